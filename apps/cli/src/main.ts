#!/usr/bin/env node
import { homedir } from 'node:os'
import { standardOutput } from './output.ts'
import { run } from './run.ts'

void run(process.argv.slice(2), {
  ...standardOutput,
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  now: Date.now,
  terminal: process.stdout.isTTY === true,
  talkTerminal: process.stderr.isTTY === true,
  columns: process.stdout.columns ?? 100,
}).then((code) => {
  process.exitCode = code
})
