export { openWriteQueue, type WriteQueueOptions } from './write-queue.ts'
