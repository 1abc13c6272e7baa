import type { RunningServer, Seat } from './running-server.js'

/** Another reverse proxy, and how it is started to do what the gateway does without a policy. */
export interface PeerKind {
  readonly program: string
  /** What brings it, as Debian or its maker names it. */
  readonly package: string
  version(file: string): string | null
  /** With kept connections to the origin, X-Forwarded-For and X-Request-Id, a worker on each core, and no access log. */
  start(seat: Seat, originUrl: string, file: string): Promise<RunningServer>
}
