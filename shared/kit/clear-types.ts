/**
 * The types of messages that the server and its admins tell people: by no door can anybody send one, and in direct conversations, whose
 * messages are sealed otherwise, they are in clear.
 */
export const clearTypes = ['system', 'welcome'] as const
export type ClearType = (typeof clearTypes)[number]

export const isInClear = (type: string): type is ClearType => clearTypes.some((one) => one === type)
