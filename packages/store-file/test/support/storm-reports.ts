import { readFileSync, writeSync } from 'node:fs'

/** Reports what a storm child did, on the file that it got as its fifth. */
export function writeReport(what: object): void {
  // It starts a line: the report before it may have been cut short.
  writeSync(4, `\n${JSON.stringify(what)}\n`)
  process.send?.('progress')
}

/** What was reported so far. A report that a kill cut short acknowledges nothing. */
export function reportsIn<Report>(path: string): Report[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Report]
      } catch {
        return []
      }
    })
}
