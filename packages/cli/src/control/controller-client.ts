import { AdminClient, type ServerKind } from '../admin/admin-client.js'
import type { ServerOptions } from '../input/options.js'

const CONTROLLER: ServerKind = {
  noun: 'controller',
  variable: 'GW_CONTROL_SERVER',
  defaultUrl: 'http://127.0.0.1:9910',
}

/** Creates a client for the API of a controller. @throws Failure if the address or token is invalid */
export function controllerClient(options: ServerOptions): AdminClient {
  return new AdminClient(options, null, CONTROLLER)
}

/** Returns the path of a group in the API. */
export function groupPath(group: string): string {
  return `/v1/groups/${encodeURIComponent(group)}`
}
