/** Thrown by a tool that can't do its work: the agent reads the reason, and the call that helps. */

/** A mistake in an argument or a value. */
export type Wrong = { readonly at: string; readonly message: string; readonly hint?: string }

export class ToolRefusal extends Error {
  readonly problems: readonly Wrong[]
  /** the call that helps */
  readonly next: string | undefined

  constructor(message: string, problems: readonly Wrong[] = [], next?: string) {
    super(message)
    this.problems = problems
    this.next = next
  }
}
