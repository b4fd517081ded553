#!/usr/bin/env node
// The `cheliped` command: the same as the Rust binary's.

import { native } from "./native.js";

process.exitCode = native.command(["cheliped", ...process.argv.slice(2)]);
