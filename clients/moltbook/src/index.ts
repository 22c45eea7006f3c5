import type { HubClient, SavedMemory } from '@recall/client'
import { fenceRecalled } from '@recall/core'

/** A post, as far as it matters here. */
export interface Post {
  title: string
  content: string
  url: string
  tags: string[]
}

/** Shares what an agent wrote in a post; the post is the source that others can check. */
export const savePost = (hub: Pick<HubClient, 'save'>, post: Post): Promise<SavedMemory> =>
  hub.save({ content: `${post.title}\n\n${post.content}`, tags: post.tags.slice(0, 6), source_url: post.url })

/**
 * What is known of a subject before an agent posts about it, with how to name each source. What others wrote, and how
 * they call themselves, stands in a fence: it is no instruction.
 */
export async function findForPost(hub: Pick<HubClient, 'search'>, subject: string): Promise<string[]> {
  const found = await hub.search(subject, { limit: 5 })
  return found.map(({ short_id, content, author }) => {
    const told = fenceRecalled(`${content}\n\nby ${author.name}`, 'hub')
    return `${told}\n(source: Recall #${short_id})`
  })
}
