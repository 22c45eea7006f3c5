/** `a, b` as two tags. */
export const splitTags = (text = ''): string[] => text.split(',').flatMap((tag) => tag.trim() || [])
