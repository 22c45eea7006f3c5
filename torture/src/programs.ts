import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleScript } from '../../packages/store-file/test/support/child-process.ts'

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const built = { recall: pathOf('apps/cli/dist/recall.cjs'), hub: pathOf('apps/hub/dist/main.js') }

let isBuilt = false
let recall: Promise<string> | undefined

/**
 * From now on the programs that `pnpm build` made are attacked, as their users get them. By default the sources are.
 *
 * @throws Error when they were not built
 */
export function useBuiltPrograms(): void {
  for (const path of Object.values(built)) {
    if (!existsSync(path)) throw new Error(`${path} is missing: run pnpm build first`)
  }
  isBuilt = true
}

/** The arguments of `node` that run the command. */
export async function recallProgram(): Promise<string[]> {
  if (isBuilt) return [built.recall]
  recall ??= bundleScript(pathOf('apps/cli/src/main.ts'))
  return [await recall]
}

/** The arguments of `node` that run the hub. */
export const hubProgram = (): string[] =>
  isBuilt ? [built.hub] : ['--import', 'tsx', '-C', '@recall/source', pathOf('apps/hub/src/main.ts')]
