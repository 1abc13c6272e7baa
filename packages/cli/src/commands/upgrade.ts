import { AdminClient } from '../admin/admin-client.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { EXIT, Failure } from '../output/failure.js'
import { print, printResult } from '../output/output.js'

/** Time in milliseconds for the next version to serve. The gateway itself gives up after 120 s. */
const TIMEOUT_MS = 150_000

/** Replaces a running gateway by the version now installed, without a gap. */
export async function upgrade(options: OutputOptions & ServerOptions): Promise<void> {
  const client = new AdminClient(options)
  const { part } = await client.get('/v1/status')
  const answer = await client.send({ method: 'POST', path: '/v1/upgrade', timeoutMs: TIMEOUT_MS })
  if (answer.status === 409) throw new Failure(client.refused(answer).message, EXIT.rolledBack)
  if (answer.status !== 200) throw client.refused(answer)
  const next = client.parsed(answer)
  const seconds = (next.number('durationMs') / 1000).toFixed(1)
  const from = part.text('version')
  await printResult({ from, ...next.value }, options.output, () =>
    print(
      `upgraded from ${from} to ${next.text('version')} in ${seconds} s (supervisor ${next.number('pid')})`,
      'the previous processes finish their requests, at most for drain.timeout',
    ),
  )
}
