/** A part of a clean-up, and what it is about. */
export interface CleanUpStep {
  readonly what: string
  do(): Promise<void>
}

/** Does all steps one after the other. What goes wrong with one of them is told: it is no reason to lose a result. */
export async function cleanUp(steps: readonly CleanUpStep[], warn: (warning: string) => void): Promise<void> {
  for (const step of steps) {
    try {
      await step.do()
    } catch (error) {
      warn(`${step.what}: ${(error as Error).message}`)
    }
  }
}
