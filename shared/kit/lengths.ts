/** The most characters of a message. */
export const longestMessage = 10_000
/** The most characters of a room's topic. */
export const longestTopic = 250
