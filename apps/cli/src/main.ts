#!/usr/bin/env node
import { homedir, userInfo } from 'node:os'
import { resolve } from 'node:path'
import { keepCompiledCode } from './compile-cache.ts'
import { ownCommand, readPayload, readText, startDetached, workingFolder } from './own-process.ts'
import type { Io } from './terminal/io.ts'
import { isScreen, resultTaken, screenColumns, writeResult, writeTalk } from './terminal/output.ts'

keepCompiledCode(process.env)

let askPerson: ((question: string) => Promise<string>) | undefined

// Getters compute a value only when it is needed: a stream that is never used is never opened.
const io: Io = {
  out: writeResult,
  outputDelivered: resultTaken,
  err: writeTalk,
  env: process.env,
  cwd: workingFolder(process.env),
  now: Date.now,
  get home() {
    // HOME may be empty, as in some containers: a memory in the working folder would be lost.
    return resolve(homedir() || userInfo().homedir)
  },
  get isTerminal() {
    return isScreen('stdout')
  },
  get isErrorTerminal() {
    return isScreen('stderr')
  },
  get columns() {
    return screenColumns()
  },
  get ownCommand() {
    return ownCommand(process.argv[1] ?? '', process)
  },
  readPayload: () => readPayload(process.stdin),
  readText: () => readText(process.stdin),
  detach: (argv) => void startDetached([...process.execArgv, process.argv[1] ?? '', ...argv]),
  async ask(question) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return null
    askPerson ??= (await import('./terminal/dialogue.ts')).createDialogue(process.stdin, process.stderr)
    return askPerson(question)
  },
}

// Everything else is loaded from here on, once its code is cached.
void import('./run.ts')
  .then(({ run }) => run(process.argv.slice(2), io))
  .then((code) => {
    process.exitCode = code
  })
