import { join } from 'node:path'
import type { Surroundings } from '../install/target.ts'

/** Where Codex keeps its settings and rollouts. */
export const codexFolder = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  env.CODEX_HOME || join(home, '.codex')
