const ANSWER_MS = 30_000

/** The processes of the workers that serve. */
export async function gatewayWorkers(admin: string): Promise<readonly number[]> {
  const answer = await fetch(`${admin}/v1/status`, { signal: AbortSignal.timeout(ANSWER_MS) })
  const { workers } = (await answer.json()) as {
    readonly workers: readonly { readonly pid: number | null; readonly state: string }[]
  }
  return workers.flatMap(({ pid, state }) => (pid === null || state !== 'ready' ? [] : [pid]))
}
