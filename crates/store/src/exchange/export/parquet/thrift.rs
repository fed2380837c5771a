//! Thrift's compact protocol, in which Parquet describes itself
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>): what is needed to write structures.

/// Types of fields and of elements of lists.
const INT32: u8 = 5;
const INT64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Behind the last field.
const STOP: u8 = 0;

/// A structure; its fields are added in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    pub(super) fn int32(self, field: u8, value: i32) -> Struct {
        self.field(field, INT32, |bytes| varint(bytes, zigzag(value.into())))
    }

    pub(super) fn int64(self, field: u8, value: usize) -> Struct {
        self.field(field, INT64, |bytes| varint(bytes, zigzag(value as i64)))
    }

    pub(super) fn text(self, field: u8, value: &str) -> Struct {
        self.field(field, BINARY, |bytes| binary(bytes, value))
    }

    pub(super) fn structure(self, field: u8, value: Struct) -> Struct {
        self.field(field, STRUCT, |bytes| bytes.extend(value.bytes()))
    }

    pub(super) fn int32s(self, field: u8, values: &[i32]) -> Struct {
        self.list(field, INT32, values, |bytes, value| varint(bytes, zigzag((*value).into())))
    }

    pub(super) fn texts(self, field: u8, values: &[&str]) -> Struct {
        self.list(field, BINARY, values, |bytes, value| binary(bytes, value))
    }

    pub(super) fn structures(self, field: u8, values: impl IntoIterator<Item = Struct>) -> Struct {
        let values: Vec<Vec<u8>> = values.into_iter().map(Struct::bytes).collect();
        self.list(field, STRUCT, &values, |bytes, value| bytes.extend(value))
    }

    pub(super) fn bytes(mut self) -> Vec<u8> {
        self.bytes.push(STOP);
        self.bytes
    }

    /// The number of a field is written as its distance from the one before.
    fn field(mut self, field: u8, kind: u8, value: impl FnOnce(&mut Vec<u8>)) -> Struct {
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
        value(&mut self.bytes);
        self
    }

    fn list<T>(self, field: u8, kind: u8, values: &[T], value: impl Fn(&mut Vec<u8>, &T)) -> Struct {
        self.field(field, LIST, |bytes| {
            if values.len() < 15 {
                bytes.push((values.len() as u8) << 4 | kind);
            } else {
                bytes.push(0xf0 | kind);
                varint(bytes, values.len() as u64);
            }
            values.iter().for_each(|one| value(bytes, one));
        })
    }
}

fn binary(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend(text.bytes());
}

/// Seven bits a byte, the lowest first; all bytes but the last have the highest bit.
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Small numbers of either sign as small numbers.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_fields_are_distances() {
        let inner = Struct::default().int32(1, -1).int64(3, 300);
        let bytes = Struct::default().text(4, "ab").structure(5, inner).int32s(7, &[0; 15]).bytes();
        let list = [&[0x29, 0xf5, 15][..], &[0; 15]].concat();
        assert_eq!(bytes, [&[0x48, 2, b'a', b'b', 0x1c, 0x15, 1, 0x26, 0xd8, 0x04, 0][..], &list, &[0]].concat());
    }
}
