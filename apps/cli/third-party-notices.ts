import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/** A package's folder, by the path of one of its files. */
const packageFolder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/**
 * Writes down the licenses of all packages that end up in a bundle: most ask that their text goes with every copy.
 *
 * @param file its name, beside what is built
 */
export function thirdPartyNotices(file: string): Plugin {
  return {
    name: 'licenses of what is inside',
    setup(build) {
      build.initialOptions.metafile = true
      const folder = build.initialOptions.outdir ?? 'dist'
      build.onEnd(({ metafile }) => {
        const outputs = Object.values(metafile?.outputs ?? {})
        const inside = outputs.flatMap(({ inputs }) =>
          Object.keys(inputs).filter((path) => inputs[path]?.bytesInOutput),
        )
        const packages = new Set(inside.flatMap((path) => packageFolder.exec(path)?.[0] ?? []))
        const texts = [...packages].map(describe).sort()
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, file), texts.join(`\n${'-'.repeat(80)}\n\n`))
      })
    },
  }
}

function describe(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = readdirSync(folder).filter((each) => /^(licen[cs]e|notice)/i.test(each))
  if (texts.length === 0 && typeof license !== 'string') throw new Error(`${name} names no license`)
  return [
    `${name} ${version} (${license})\n`,
    ...texts.map((each) => readFileSync(join(folder, each), 'utf8')),
  ].join('\n')
}
