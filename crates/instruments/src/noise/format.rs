//! Where a tracepoint's fields lie in its record, as the kernel's `format` file says.

/// A field's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    pub(crate) fn of(format: &str, name: &str) -> Option<Field> {
        let line = format.lines().find(|line| {
            let declared = line.trim().strip_prefix("field:").and_then(|rest| rest.split(';').next());
            let last = declared.and_then(|declared| declared.split_whitespace().last());
            last.is_some_and(|last| last.split('[').next() == Some(name))
        })?;
        let number = |key: &str| line.split(';').find_map(|part| part.trim().strip_prefix(key)?.parse().ok());
        Some(Field { offset: number("offset:")?, size: number("size:")? })
    }

    /// An unsigned number of up to eight bytes.
    pub(crate) fn number(self, record: &[u8]) -> Option<u64> {
        let bytes = record.get(self.offset..self.offset + self.size.min(8))?;
        let mut whole = [0; 8];
        if cfg!(target_endian = "little") {
            whole[..bytes.len()].copy_from_slice(bytes);
        } else {
            whole[8 - bytes.len()..].copy_from_slice(bytes);
        }
        Some(u64::from_ne_bytes(whole))
    }

    /// A text that ends with a zero or with the field.
    pub(crate) fn text(self, record: &[u8]) -> Option<String> {
        let bytes = record.get(self.offset..self.offset + self.size)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "name: sched_switch\nID: 372\nformat:\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n";

    #[test]
    fn fields_are_found_and_read() {
        let mut record = vec![0_u8; 64];
        record[40..44].copy_from_slice(b"task");
        record[56..60].copy_from_slice(&1234_u32.to_ne_bytes());
        let field = |name| Field::of(SWITCH, name).expect(name);
        assert_eq!(field("next_comm").text(&record).as_deref(), Some("task"));
        assert_eq!(field("next_pid").number(&record), Some(1234));
        assert_eq!(field("next_pid").number(&record[..58]), None, "a record that is cut off");
        assert_eq!(Field::of(SWITCH, "comm"), None);
        assert_eq!(Field::of("", "next_pid"), None);
    }
}
