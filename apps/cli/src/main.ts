#!/usr/bin/env node
import { homedir } from 'node:os'
import { standardOutput } from './output.ts'
import { run } from './run.ts'

// What takes time to find out is found out when somebody asks: a stream that is never used is never opened.
void run(process.argv.slice(2), {
  ...standardOutput,
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
  get home() {
    return homedir()
  },
  get terminal() {
    return process.stdout.isTTY === true
  },
  get talkTerminal() {
    return process.stderr.isTTY === true
  },
  async ask(question) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return null
    const { createInterface } = await import('node:readline/promises')
    const dialogue = createInterface({ input: process.stdin, output: process.stderr })
    return dialogue.question(question).finally(() => dialogue.close())
  },
  get columns() {
    return process.stdout.columns ?? 100
  },
}).then((code) => {
  process.exitCode = code
})
