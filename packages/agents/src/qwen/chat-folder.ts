import { join } from 'node:path'
import type { Surroundings } from '../install/target.ts'

/** Where Qwen Code keeps its chats, by project. */
export const qwenChatFolder = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  join(env.QWEN_RUNTIME_DIR || join(home, '.qwen'), 'projects')
