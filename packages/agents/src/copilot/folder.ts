import { join } from 'node:path'
import type { Surroundings } from '../install/target.ts'

/** Where Copilot CLI keeps its settings and sessions. */
export const copilotFolder = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  env.COPILOT_HOME || join(home, '.copilot')
