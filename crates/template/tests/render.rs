//! Template text and a row in, text out.

use proptest::prelude::*;
use rekuiper_template::{Env, Template, function_names, is_template};
use rekuiper_value::{Value, json};

const ROW: &str = r#"{"a":1,"b":"x","f":1.5,"big":100000000,"n":null,"t":true,"neg":-3,
    "o":{"p":1,"q":[1,2],"r":{"s":"deep"}},"l":["u","v","w"],"e":[],"name":"it's <b> & \"c\""}"#;

fn render(template: &str) -> String {
    let data = json::parse(ROW.as_bytes()).unwrap();
    with(template, &data)
}

fn with(template: &str, data: &Value) -> String {
    let parsed = match Template::parse(template) {
        Ok(parsed) => parsed,
        Err(error) => return format!("parse: {error}"),
    };
    let props = |key: &str| (key == "site").then(|| "plant 1".to_string());
    let env = Env { now_ms: Some(1_585_706_400_123), props: Some(&props), ..Env::default() };
    let mut out = b"kept".to_vec();
    match parsed.render_with(data, &env, &mut out) {
        Ok(()) => String::from_utf8(out).unwrap()[4..].to_owned(),
        Err(error) => {
            assert_eq!(out, b"kept");
            format!("run: {error}")
        }
    }
}

fn check(cases: &[(&str, &str)]) {
    for (template, want) in cases {
        assert_eq!(&render(template), want, "{template}");
    }
}

#[test]
fn values_print_as_go_prints_them() {
    check(&[
        ("plain text", "plain text"),
        ("{{.a}} {{.f}} {{.big}} {{.b}} {{.t}}", "1 1.5 1e+08 x true"),
        ("{{.zz}} {{.n}} {{.zz.y.x}}", "<no value> <no value> <no value>"),
        ("{{.o}} {{.l}} {{.o.r.s}}", "map[p:1 q:[1 2] r:map[s:deep]] [u v w] deep"),
        (
            "{{1}} {{0x1F}} {{1.50}} {{1e3}} {{'a'}} {{`r\\n`}} {{\"q\\t\"}}",
            "1 31 1.5 1000 97 r\\n q\t",
        ),
        ("{{-3}} {{- 3 -}} {{+2}}", "-332"),
        ("{{ - 3}}", "parse: template: sink:1: bad number syntax: \"-\""),
        (
            "{{.n.x}}",
            "run: template: sink:1: executing \"sink\" at <.n.x>: nil pointer evaluating interface {}.x",
        ),
        (
            "{{.a.x}}",
            "run: template: sink:1: executing \"sink\" at <.a.x>: can't evaluate field x in type float64",
        ),
        ("{{print .a .b 2 3 .n}}", "1x2 3 <nil>"),
        ("{{println .a .b}}", "1 x\n"),
    ]);
}

#[test]
fn recorded_sink_templates() {
    let rows = json::parse(br#"[{"a":1,"b":"x"},{"a":2,"b":"y"},{"a":3,"b":"z"}]"#).unwrap();
    let cases = [
        (r#"{"first":{{index . 0 "a"}},"last":{{index . 2 "a"}}}"#, r#"{"first":1,"last":3}"#),
        (
            r#"{"rows":{{json .}},"n":{{len .}}}"#,
            r#"{"rows":[{"a":1,"b":"x"},{"a":2,"b":"y"},{"a":3,"b":"z"}],"n":3}"#,
        ),
        ("{{range .}}{{.a}};{{end}}", "1;2;3;"),
        ("{{range $i, $r := .}}{{if $i}},{{end}}{{$r.b}}{{end}}", "x,y,z"),
    ];
    for (template, want) in cases {
        assert_eq!(with(template, &rows), want, "{template}");
    }
    check(&[
        (r#"{"id":{{.a}},"tag":"{{.b}}!"}"#, r#"{"id":1,"tag":"x!"}"#),
        ("{{toJson .o}}", r#"{"p":1,"q":[1,2],"r":{"s":"deep"}}"#),
        (r#"{{if gt .a 1.5}}{"big":true}{{else}}{"big":false}{{end}}"#, r#"{"big":false}"#),
        (r#"{"v":"{{.zz}}"}"#, r#"{"v":"<no value>"}"#),
        (r#"{"v":"{{upper .b}}","w":"{{.b | repeat 2}}"}"#, r#"{"v":"X","w":"xx"}"#),
        (r#"{"p":{{.o.p}}}"#, r#"{"p":1}"#),
        (r#"{"v":"{{base64 .b}}","w":"{{b64enc .b}}"}"#, r#"{"v":"eA==","w":"eA=="}"#),
        (r#"{"v":{{add .a 10}}}"#, r#"{"v":11}"#),
        ("{{.a", "parse: template: sink:1: unclosed action"),
        ("{{nofunc .a}}", "parse: template: sink:1: function \"nofunc\" not defined"),
    ]);
}

#[test]
fn control() {
    check(&[
        ("{{if .n}}1{{else if .a}}2{{else}}3{{end}}", "2"),
        ("{{if and .t .a (not .n)}}yes{{end}}{{if or .n .e}}no{{end}}", "yes"),
        ("{{with .o}}{{.p}} {{$.a}}{{end}}{{with .zz}}x{{else}} none{{end}}", "1 1 none"),
        ("{{with .zz}}x{{else with .b}}{{.}}{{end}}", "x"),
        ("{{range .l}}{{.}}{{else}}e{{end}}{{range .e}}x{{else}}empty{{end}}", "uvwempty"),
        ("{{range $k, $v := .o}}{{$k}}={{$v}} {{end}}", "p=1 q=[1 2] r=map[s:deep] "),
        ("{{range .l}}{{if eq . \"v\"}}{{continue}}{{end}}{{.}}{{end}}", "uw"),
        ("{{range .l}}{{if eq . \"v\"}}{{break}}{{end}}{{.}}{{end}}", "u"),
        ("{{range $i, $_ := until 3}}{{$i}}{{end}}{{range 2}}x{{end}}", "012xx"),
        ("{{$x := 1}}{{if true}}{{$x = 2}}{{$x := 3}}{{end}}{{$x}}", "2"),
        ("{{$n := 0}}{{range .l}}{{$n = add $n 1}}{{end}}{{$n}}", "3"),
        ("a {{- .a -}} b{{/* note */}}c {{- /* two */ -}} d", "a1bcd"),
        ("a\n{{- if true }}\n b\n{{- end }}\n", "a\n b\n"),
        (
            "{{define \"T\"}}<{{.}}>{{end}}{{template \"T\" .b}}{{template \"T\" .l}}",
            "<x><[u v w]>",
        ),
        ("{{block \"B\" .o}}{{.p}}{{end}}", "1"),
        ("{{(index .l 1) | printf \"%s-%s\" .b}} {{(.o).p}} {{len (slice .l 1)}}", "x-v 1 2"),
        (
            "{{and .t .n.x}}",
            "run: template: sink:1: executing \"sink\" at <and .t .n.x>: nil pointer evaluating interface {}.x",
        ),
        ("{{and .n .n.x}}", "<no value>"),
        ("{{.b | and .a}}", "x"),
    ]);
}

#[test]
fn comparisons_want_one_kind() {
    check(&[
        ("{{eq .a 1.0}} {{eq .b \"y\" \"x\"}} {{ne .a 2.0}} {{eq .n nil}}", "true true true true"),
        ("{{eq .zz 1}} {{lt 1 2}} {{le \"a\" \"a\"}} {{ge 1.5 .f}}", "false true true true"),
        (
            "{{eq .a 1}}",
            "run: template: sink:1: executing \"sink\" at <eq .a 1>: incompatible types for comparison",
        ),
        (
            "{{lt .a 1}}",
            "run: template: sink:1: executing \"sink\" at <lt .a 1>: incompatible types for comparison",
        ),
        (
            "{{lt .t .t}}",
            "run: template: sink:1: executing \"sink\" at <lt .t .t>: invalid type for comparison",
        ),
        (
            "{{eq .l .l}}",
            "run: template: sink:1: executing \"sink\" at <eq .l .l>: non-comparable type []interface {}",
        ),
        (
            "{{eq .a}}",
            "run: template: sink:1: executing \"sink\" at <eq .a>: wrong number of args for eq: want at least 2 got 1",
        ),
    ]);
    let ints = json::from_serde(&serde_json::json!({"i": 5}), true);
    assert_eq!(
        with("{{eq .i 5}} {{gt .i 4}} {{.i}} {{printf \"%03d\" .i}}", &ints),
        "true true 5 005"
    );
}

#[test]
fn printf_verbs() {
    check(&[
        ("{{printf \"%.2f|%6.1f|%-5s|%5s|%q\" .f .f .b .b .b}}", "1.50|   1.5|x    |    x|\"x\""),
        (
            "{{printf \"%d %x %X %o %b %c %U %+d\" 31 31 31 8 5 65 65 1}}",
            "31 1f 1F 10 101 A U+0041 +1",
        ),
        ("{{printf \"%d\" .a}} {{printf \"%s\" .a}}", "%!d(float64=1) %!s(float64=1)"),
        ("{{printf \"%v %v %v %v\" .l .o.p .n .big}}", "[u v w] 1 <nil> 1e+08"),
        ("{{printf \"%e %g %G\" .big .big 1e-7}}", "1.000000e+08 1e+08 1E-07"),
        ("{{printf \"%T %T %T %t\" .a 1 .b .t}}", "float64 int string true"),
        (
            "{{printf \"%d%%\" 5}} {{printf \"%d\"}} {{printf \"x\" 1}}",
            "5% %!d(MISSING) x%!(EXTRA int=1)",
        ),
        ("{{printf \"%05d|%-4d|%x|%.3s\" -42 7 .b \"abcdef\"}}", "-0042|7   |78|abc"),
    ]);
}

#[test]
fn texts() {
    check(&[
        (
            "{{trim \" a \"}}{{trimPrefix \"a\" \"ab\"}}{{trimSuffix \"b\" \"ab\"}}{{title \"ab cd\"}}",
            "abaAb Cd",
        ),
        (
            "{{replace \"a\" \"b\" \"aa\"}} {{contains \"a\" \"cat\"}} {{substr 1 3 \"hello\"}}",
            "bb true el",
        ),
        (
            "{{join \"-\" .l}} {{splitList \",\" \"a,b\"}} {{(split \",\" \"a,b\")._1}}",
            "u-v-w [a b] b",
        ),
        (
            "{{quote .b .a}} {{squote .b}} {{default \"d\" .n}} {{default \"d\" .b}}",
            "\"x\" \"1\" 'x' d x",
        ),
        ("{{empty .e}} {{coalesce .n .e .b}} {{ternary \"y\" \"n\" .t}}", "true x y"),
        ("{{html .name}}", "it&#39;s &lt;b&gt; &amp; &#34;c&#34;"),
        ("{{js .name}}", "it\\'s \\u003Cb\\u003E \\u0026 \\\"c\\\""),
        ("{{urlquery \"a b&c\"}} {{snakecase \"HelloWorld\"}}", "a+b%26c hello_world"),
        (
            "{{regexMatch \"^a.c$\" \"abc\"}} {{regexReplaceAll \"a(x*)b\" \"-ab-axxb-\" \"${1}W\"}}",
            "true -W-xxW-",
        ),
        (
            "{{upper .a}}",
            "run: template: sink:1: executing \"sink\" at <upper .a>: wrong type for value; expected string; got float64",
        ),
        (
            "{{upper .n}}",
            "run: template: sink:1: executing \"sink\" at <upper .n>: invalid value; expected string",
        ),
        (
            "{{toString .big}} {{b64dec \"YWJj\"}} {{sha256sum \"\" | trunc 8}}",
            "1e+08 abc e3b0c442",
        ),
        ("{{prop \"site\"}} {{prop \"other\"}} {{len uuidv4}}", "plant 1 other 36"),
    ]);
}

#[test]
fn numbers() {
    check(&[
        ("{{add 1 2.9 \"3\"}} {{sub 5 2}} {{mul 2 3}} {{div 7 2}} {{mod 7 3}}", "6 3 6 3 1"),
        (
            "{{max 1 5 3}} {{min 4 2}} {{round 123.5555 3}} {{floor 1.9}} {{ceil 1.1}}",
            "5 2 123.556 1 2",
        ),
        (
            "{{int .f}} {{int64 \"12\"}} {{float64 \"1.5\"}} {{add (len .l) -1}} {{mulf .f 2}}",
            "1 12 1.5 2 3",
        ),
        ("{{until 3}} {{untilStep 1 8 3}} {{seq 1 3}}", "[0 1 2] [1 4 7] 1 2 3"),
        (
            "{{div 1 0}}",
            "run: template: sink:1: executing \"sink\" at <div 1 0>: error calling div: integer divide by zero",
        ),
    ]);
}

#[test]
fn lists_and_dicts() {
    check(&[
        (
            "{{first .l}} {{last .l}} {{rest .l}} {{list 1 \"a\"}} {{has \"u\" .l}}",
            "u w [v w] [1 a] true",
        ),
        (
            "{{append .l 1}} {{reverse .l}} {{uniq (list 1 1 2)}} {{without .l \"u\"}}",
            "[u v w 1] [w v u] [1 2] [v w]",
        ),
        (
            "{{$d := dict \"a\" 1}}{{$_ := set $d \"b\" 2}}{{$d}} {{hasKey $d \"b\"}} {{get $d \"zz\"}}.",
            "map[a:1 b:2] true .",
        ),
        (
            "{{keys .o}} {{toJson (pick .o \"p\")}} {{toJson (omit .o \"q\" \"r\")}}",
            "[p q r] {\"p\":1} {\"p\":1}",
        ),
        (
            "{{toJson (merge (dict \"a\" 1) (dict \"a\" 2 \"b\" 3))}} {{dig \"r\" \"s\" \"d\" .o}}",
            "{\"a\":1,\"b\":3} deep",
        ),
        ("{{(fromJson \"{\\\"k\\\":[1,2]}\").k}}", "[1 2]"),
        (
            "{{index .l 5}}",
            "run: template: sink:1: executing \"sink\" at <index .l 5>: error calling index: index out of range: 5",
        ),
    ]);
}

#[test]
fn dates() {
    check(&[
        (
            "{{date \"2006-01-02 15:04:05.000\" now}} {{now | date \"Jan _2 3:04PM Mon MST\"}}",
            "2020-04-01 02:00:00.123 Apr  1 2:00AM Wed UTC",
        ),
        ("{{now.Unix}} {{unixEpoch now}} {{now.UnixMilli}}", "1585706400 1585706400 1585706400123"),
        ("{{now | dateModify \"-1h30m\" | date \"15:04\"}}", "00:30"),
        ("{{(toDate \"02/01/2006 15:04 -0700\" \"03/04/2021 05:06 +0200\").Unix}}", "1617419160"),
        (
            "{{dateInZone \"2006-01-02T15:04:05Z07:00\" now \"Asia/Tokyo\"}}",
            "2020-04-01T11:00:00+09:00",
        ),
        ("{{now.Format \"2006\"}} {{now}}", "2020 2020-04-01 02:00:00.123 +0000 UTC"),
    ]);
    let mut out = Vec::new();
    let now = Template::parse("{{now}}").unwrap();
    assert!(now.render(&Value::Null, &mut out).unwrap_err().to_string().contains("no clock"));
}

#[test]
fn writing_errors_are_told_when_parsing() {
    let cases = [
        ("{{", "unclosed action"),
        ("{{end}}", "unexpected {{end}}"),
        ("{{if .a}}", "unexpected EOF"),
        ("a\n{{$x}}", "template: sink:2: undefined variable \"$x\""),
        ("{{if}}{{end}}", "missing value for if"),
        ("{{break}}", "{{break}} outside {{range}}"),
        ("{{(.a}}", "unclosed left paren"),
        ("{{.a)}}", "unexpected right paren"),
        ("{{\"a}}", "unterminated quoted string"),
        ("{{/* a}}", "unclosed comment"),
        ("{{nil}}", "nil is not a command"),
        ("{{1 2}}", "can't give argument to non-function"),
        ("{{.a | 1}}", "non executable command in pipeline"),
        ("{{if .a}}{{else}}{{else}}{{end}}", "expected end; found {{else}}"),
        ("{{.a!}}", "unexpected '!' in command"),
        ("{{template \"x\"}", "unexpected"),
    ];
    for (template, want) in cases {
        let error = Template::parse(template).unwrap_err().to_string();
        assert!(error.contains(want), "{template}: {error}");
        assert!(error.starts_with("template: sink:"), "{error}");
    }
    assert!(Template::parse(&"{{if 1}}".repeat(10_000)).is_err());
    assert!(Template::parse(&format!("{{{{{}", "(".repeat(100_000))).is_err());
    assert!(is_template("a{{b") && !is_template("a{b"));
}

#[test]
fn runs_are_bounded() {
    let bounded = [
        "{{define \"T\"}}{{template \"T\" .}}{{end}}{{template \"T\" .}}",
        "{{range 9000000000}}{{end}}{{range 9000000000}}x{{end}}",
        "{{repeat 1000000000 \"xxxxxxxxxx\"}}",
        "{{until 100000000000}}",
        "{{range until 1000}}{{repeat 1000000 \"x\"}}{{end}}",
    ];
    for template in bounded {
        assert!(render(template).starts_with("run: "), "{template}");
    }
}

#[test]
fn every_function_takes_any_arguments_without_harm() {
    for name in function_names() {
        for args in [
            "", ".n", ".a", ".b", ".l .o", ".o .b .l", ".b .b", "3 .b", "1 2 3", "-1 -5 .b",
            ".b -1 .b",
        ] {
            let template = format!("{{{{{name} {args}}}}}");
            let _ = render(&template);
        }
    }
    assert!(function_names().len() > 130, "{}", function_names().len());
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_text_does_harm(parts in prop::collection::vec(prop::sample::select(vec![
        "{{", "}}", "{{-", " -}}", "if ", "else", "end", "range ", "with ", "define ", "template ",
        "block ", "break", "continue", "$x", " := ", " = ", ", ", "|", "(", ")", ".a", ".", ".l",
        ".o.p", "\"T\"", "`r`", "'c'", "1", "-2.5", "0x", " ", "\n", "eq ", "index ", "printf ",
        "\"%*d%v\"", "and ", "/*", "*/", "é", "text", "true", "nil", "until ", "dict ",
    ]), 0..25)) {
        let text: String = parts.concat();
        let _ = render(&text);
        let _ = render(&format!("{{{{{text}}}}}"));
    }
}
