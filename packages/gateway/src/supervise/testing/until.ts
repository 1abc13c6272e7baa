/**
 * Waits until a condition is met, polling often.
 * @throws Error at the deadline, naming the condition.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  deadlineMs = 300_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const endMono = performance.now() + deadlineMs
  for (;;) {
    const value = await condition()
    if (value !== false && value !== null && value !== undefined)
      return value as NonNullable<Exclude<T, false>>
    if (performance.now() > endMono) throw new Error(`still not true after ${deadlineMs} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
