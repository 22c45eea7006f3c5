import { join } from 'node:path'
import type { Surroundings } from '../install/target.ts'

/** Where Cursor keeps its settings and projects. */
export const cursorFolder = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  env.CURSOR_CONFIG_DIR || join(home, '.cursor')
