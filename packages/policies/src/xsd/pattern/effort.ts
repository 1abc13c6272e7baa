/** Counts the work that is spent on patterns, in steps of which a million takes 0.4 to 1.5 s. */
export class Effort {
  steps = 0

  spend(steps: number): void {
    this.steps += steps
  }
}
