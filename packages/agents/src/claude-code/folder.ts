import { join } from 'node:path'
import type { Surroundings } from '../install/target.ts'

/** Where Claude Code keeps its settings and sessions. */
export const claudeCodeFolder = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  env.CLAUDE_CONFIG_DIR || join(home, '.claude')
