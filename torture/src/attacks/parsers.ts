import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleScript } from '../../../packages/store-file/test/support/child-process.ts'
import type { Attack, Round } from '../attack.ts'
import type { ParseReport } from '../parsers/parse-child.ts'
import { parsers } from '../parsers/parsers.ts'

const child = fileURLToPath(new URL('../parsers/parse-child.ts', import.meta.url))
const corpora = fileURLToPath(new URL('../../corpora', import.meta.url))

/** An input that takes this long, in milliseconds, never ends. */
const hangMs = 10_000
const lookMs = 500

/** Reads hostile inputs with each parser; `size` of them each. */
export const hostileInputs: Attack = {
  what: `${Object.keys(parsers).length} parsers read what nearly is their format: no crash, nothing over a second, nothing outside`,
  size: 500,
  async round({ seed, size, folder }) {
    const round: Round = { counts: { 'hostile inputs for each': size }, violations: [] }
    const script = await bundleScript(child)
    for (const name of Object.keys(parsers)) {
      const own = join(folder, name)
      mkdirSync(own)
      const { inputs, refused, violations } = await parse(script, [
        name,
        String(seed),
        String(size),
        own,
        join(folder, `${name}.at`),
        join(corpora, name),
      ])
      round.counts['hostile inputs'] = (round.counts['hostile inputs'] ?? 0) + inputs
      round.counts.refused = (round.counts.refused ?? 0) + refused
      round.violations.push(...violations)
    }
    return round
  },
}

async function parse(
  script: string,
  args: readonly [name: string, seed: string, size: string, folder: string, progress: string, corpus: string],
): Promise<ParseReport> {
  const [name, seed, , , progress] = args
  const process_ = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let errors = ''
  process_.stderr?.on('data', (chunk) => {
    errors = `${errors}${chunk}`.slice(-2000)
  })
  let report: ParseReport | undefined
  process_.on('message', (message) => {
    report = message as ParseReport
  })
  const watch = watchProgress(progress, () => process_.kill('SIGKILL'))
  const code = await new Promise((resolve) => process_.once('close', resolve))
  const at = watch.stop()
  if (report) return report
  const what = watch.hung
    ? `input ${at} of seed ${seed} never ends`
    : `ended with ${code} at input ${at} of seed ${seed}: ${errors}`
  return { inputs: Number(at) || 0, refused: 0, violations: [`${name}: ${what}`] }
}

/** Calls when the number in a file stays the same for too long. */
function watchProgress(path: string, onHang: () => void) {
  const read = (): string => {
    try {
      return readFileSync(path, 'utf8').trim()
    } catch {
      return ''
    }
  }
  let [last, since] = ['', Date.now()]
  const watch = {
    hung: false,
    stop(): string {
      clearInterval(timer)
      return read()
    },
  }
  const timer = setInterval(() => {
    const now = read()
    if (now !== last) [last, since] = [now, Date.now()]
    else if (now !== '' && Date.now() - since > hangMs) {
      watch.hung = true
      onHang()
    }
  }, lookMs)
  return watch
}
