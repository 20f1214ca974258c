const defaultInstructions = 'You are a helpful assistant. Answer clearly and briefly.'

/** What a model is told where the owner has written no instructions of their own. */
export const instructionsOf = (name: string, personality: string): string =>
  personality.trim() === ''
    ? defaultInstructions
    : `You are ${name}. Your personality: ${personality.trim()}\nBe helpful and friendly, and stay in character as ${name}.`
