import { join } from 'node:path'
import type { Surroundings } from '../install/target.ts'

/** Where Gemini CLI keeps its settings and chats. */
export const geminiFolder = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  join(env.GEMINI_CLI_HOME || home, '.gemini')
