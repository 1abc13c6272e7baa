import type { Scenario } from '../model/scenario.js'
import { freePort, LOOPBACK } from '../process/port.js'
import { type Placement, type RunningServer, startServer } from '../process/running-server.js'
import { CONNECTIONS, GW, gatewayVersion } from './gateway.js'
import { fillText } from './nginx.js'

/** Starts a cache server that has the value that a scenario reads. */
export async function startCacheServer(placement: Placement, scenario: Scenario): Promise<RunningServer> {
  const port = await freePort()
  const size = ['--workers', String(scenario.workers), '--connections', String(CONNECTIONS)]
  const command = [process.execPath, GW, 'cache-server', '--listen', `127.0.0.1:${port}`, ...size]
  const put = { method: 'PUT', body: fillText(scenario.origin.bytes), headers: { connection: 'close' } }
  return startServer({
    name: 'cache-server',
    version: gatewayVersion(),
    port,
    placement,
    command,
    // Connections that come while the server still looks whether its address is free are reset.
    isReady: () =>
      fetch(`http://${LOOPBACK}:${port}${scenario.call.path}`, put).then(
        ({ ok }) => ok,
        () => false,
      ),
  })
}
