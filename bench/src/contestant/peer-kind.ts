import type { RunningServer, Seat } from './running-server.js'

/** Another reverse proxy, and how it is started to do what the gateway does without a policy. */
export interface PeerKind {
  readonly program: string
  /** How to get it where it is missing, such as `install the package haproxy`; packages are Debian's. */
  readonly remedy: string
  version(file: string): string | null
  /** With kept connections to the origin, X-Forwarded-For and X-Request-Id, a worker on each core, and no access log. */
  start(seat: Seat, originUrl: string, file: string): Promise<RunningServer>
}
