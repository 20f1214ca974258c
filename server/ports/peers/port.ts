/**
 * Words between the nodes of one installation, each a JSON value on a topic. They may be lost, doubled, late and out of order;
 * nothing that was acknowledged rests on them. A node does not hear itself.
 */
export interface Peers {
  /** Do other nodes hear now? */
  isUp(): boolean
  /** Called when words go through again, after some may have been lost. */
  onReturn(listener: () => void): void
  /** False where the word is too long to be told. */
  tell(topic: string, word: unknown): boolean
  listen(topic: string, listener: (word: unknown) => void): () => void
  /** What the other nodes answer, as far as it comes within a fifth of a second. */
  ask(topic: string, question: unknown): Promise<unknown[]>
  /** Answers what other nodes ask on the topic. */
  answer(topic: string, answerer: (question: unknown) => unknown): () => void
}
