/** The most characters of a message. */
export const longestMessage = 10_000
/** The most characters of a room's topic. */
export const longestTopic = 250
/** The most characters of the label of a chat folder, as people see them. */
export const longestFolderLabel = 32
/** The most chats that somebody pins. */
export const pinnedAtMost = 10
