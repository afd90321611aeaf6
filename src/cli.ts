#!/usr/bin/env node
import './cli/v8-flags.ts';
import { runCommandLine } from './cli/command-line.ts';

await runCommandLine(process.argv);
