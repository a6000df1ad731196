//! Files and folders.

use super::{Connector, Prop, Source, prop, shared};

pub static CONNECTOR: Connector = Connector {
    name: "file",
    label: "File",
    en: "Reads files or the files of a folder, or writes results to files.",
    zh: "读取文件或文件夹中的文件，或将结果写入文件。",
    source: Some(Source {
        datasource: "Name of the file or folder below the path.",
        props: &[SOURCE, shared::PAYLOAD],
    }),
    lookup: false,
    sink: Some(&[SINK]),
    connection: false,
};

static SOURCE: &[Prop] = &[
    prop(
        "fileType",
        "\"json\"",
        "string",
        "File type",
        "How the file is laid out.",
    )
    .of(r#"["json","csv","lines"]"#),
    prop(
        "path",
        "\"data\"",
        "string",
        "Path",
        "Folder of the file, absolute or below the base.",
    )
    .must(),
    prop(
        "interval",
        "0",
        "int",
        "Interval",
        "Time between two readings; 0 reads once.",
    ),
    prop(
        "sendInterval",
        "0",
        "int",
        "Send interval",
        "Pause between two rows.",
    ),
    prop(
        "actionAfterRead",
        "0",
        "int",
        "After reading",
        "0 keeps, 1 deletes, 2 moves the file.",
    )
    .of("[0,1,2]"),
    prop(
        "moveTo",
        "\"\"",
        "string",
        "Move to",
        "Folder for files that were read.",
    ),
    prop(
        "hasHeader",
        "false",
        "bool",
        "Header",
        "Whether the first line of a csv has names.",
    ),
    prop(
        "columns",
        "[]",
        "list_string",
        "Columns",
        "Names of the columns of a csv.",
    ),
    prop(
        "ignoreStartLines",
        "0",
        "int",
        "Skip at start",
        "Lines to leave out at the start.",
    ),
    prop(
        "ignoreEndLines",
        "0",
        "int",
        "Skip at end",
        "Lines to leave out at the end.",
    ),
    prop(
        "decompression",
        "\"\"",
        "string",
        "Decompression",
        "How the file is compressed.",
    )
    .of(r#"["","gzip","zstd"]"#),
];

static SINK: &[Prop] = &[
    prop(
        "path",
        "\"\"",
        "string",
        "Path",
        "File to write; may be a template.",
    )
    .must(),
    prop(
        "fileType",
        "\"lines\"",
        "string",
        "File type",
        "How the file is laid out.",
    )
    .of(r#"["lines","json","csv"]"#),
    prop(
        "hasHeader",
        "false",
        "bool",
        "Header",
        "Whether a csv begins with the names.",
    ),
    prop(
        "delimiter",
        "\",\"",
        "string",
        "Delimiter",
        "Between the values of a csv.",
    ),
    prop(
        "rollingInterval",
        "0",
        "int",
        "Rolling interval",
        "Age at which a new file is begun.",
    ),
    prop(
        "rollingCount",
        "1000000",
        "int",
        "Rolling count",
        "Messages after which it is begun.",
    ),
    prop(
        "rollingSize",
        "0",
        "int",
        "Rolling size",
        "Bytes after which it is begun.",
    ),
    prop(
        "rollingNamePattern",
        "\"\"",
        "string",
        "Name pattern",
        "Where the time goes in names.",
    )
    .of(r#"["","none","prefix","suffix"]"#),
    prop(
        "checkInterval",
        "300000",
        "int",
        "Check interval",
        "Time between two looks at the age.",
    ),
    prop(
        "compression",
        "\"\"",
        "string",
        "Compression",
        "How to compress the file.",
    )
    .of(r#"["","gzip","zstd"]"#),
];
