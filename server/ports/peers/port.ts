/**
 * Words between the nodes of one installation, each a JSON value on a topic. They may be lost, doubled, late and out of order;
 * nothing that was acknowledged rests on them. A node does not hear itself.
 */
export interface Peers {
  /** Do other nodes hear now? */
  isUp(): boolean
  /** Called when words go through again, after some may have been lost. */
  onReturn(listener: () => void): void
  /** False for a message that is too long. */
  tell(topic: string, word: unknown): boolean
  listen(topic: string, listener: (word: unknown) => void): () => void
  /** The answers of other nodes within a fifth of a second. */
  ask(topic: string, question: unknown): Promise<unknown[]>
  /** Answers requests of other nodes on the topic. */
  answer(topic: string, answerer: (question: unknown) => unknown): () => void
}
