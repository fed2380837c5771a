CREATE TABLE machine (
    key {KEY},
    state TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    class TEXT NOT NULL,
    architecture TEXT NOT NULL,
    cpu_model TEXT NOT NULL,
    microarchitecture TEXT,
    signature TEXT NOT NULL,
    microcode TEXT,
    cpus INTEGER NOT NULL,
    memory_bytes BIGINT NOT NULL,
    hypervisor TEXT,
    container TEXT,
    kernel TEXT NOT NULL,
    kernel_version TEXT NOT NULL,
    command_line TEXT,
    mitigations TEXT NOT NULL,
    clock_source TEXT,
    governor TEXT,
    huge_pages TEXT,
    libc TEXT NOT NULL
);

CREATE TABLE run (
    key {KEY},
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    started TEXT NOT NULL,
    finished TEXT NOT NULL,
    kept TEXT NOT NULL,
    ordered TEXT NOT NULL,
    machine BIGINT NOT NULL REFERENCES machine (key),
    howslow TEXT NOT NULL,
    build TEXT NOT NULL,
    label TEXT,
    patterns TEXT NOT NULL,
    is_full INTEGER NOT NULL,
    cycle_ns {REAL} NOT NULL,
    quiet {REAL} NOT NULL,
    UNIQUE (id, digest)
);
CREATE INDEX run_ordered ON run (ordered, id);
CREATE INDEX run_label ON run (label, ordered);

CREATE TABLE document (
    run BIGINT NOT NULL PRIMARY KEY REFERENCES run (key),
    content {BYTES} NOT NULL
);

CREATE TABLE series (
    key {KEY},
    operation TEXT NOT NULL,
    version INTEGER NOT NULL,
    point TEXT NOT NULL,
    estimator TEXT NOT NULL,
    unit TEXT NOT NULL,
    follows_clock INTEGER NOT NULL,
    UNIQUE (operation, point, version, estimator, unit, follows_clock)
);

CREATE TABLE doubts (
    key {KEY},
    kinds TEXT NOT NULL UNIQUE
);

CREATE TABLE cost (
    run BIGINT NOT NULL,
    series BIGINT NOT NULL,
    doubts BIGINT NOT NULL,
    value {REAL} NOT NULL,
    low {REAL},
    high {REAL},
    cycles {REAL},
    PRIMARY KEY (run, series)
){BY_KEY};

CREATE VIEW costs AS
SELECT
    run.id AS run,
    run.started,
    run.ordered,
    run.label,
    machine.host,
    machine.class AS machine_class,
    machine.kernel,
    machine.cpu_model,
    machine.microcode,
    machine.hypervisor,
    run.howslow,
    series.operation,
    series.version,
    series.point,
    series.estimator,
    cost.value,
    cost.low,
    cost.high,
    series.unit,
    cost.cycles,
    doubts.kinds AS doubts
FROM cost
JOIN run ON run.key = cost.run
JOIN machine ON machine.key = run.machine
JOIN series ON series.key = cost.series
JOIN doubts ON doubts.key = cost.doubts;

CREATE VIEW machines AS
SELECT
    machine.*,
    (SELECT count(*) FROM run WHERE run.machine = machine.key) AS runs,
    (SELECT min(ordered) FROM run WHERE run.machine = machine.key) AS first_run,
    (SELECT max(ordered) FROM run WHERE run.machine = machine.key) AS last_run
FROM machine;
