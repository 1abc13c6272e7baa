import { getSystemErrorMap } from 'node:util'

/** A failed system call. */
interface SystemFailure {
  readonly code: string
  readonly syscall: string
  /** File, host or address; empty if unknown. */
  readonly subject: string
}

/** The members that Node.js adds to errors of system calls. */
interface SystemError {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly path?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

const ACTIONS: Readonly<Record<string, string>> = {
  open: 'cannot open',
  read: 'cannot read',
  stat: 'cannot read',
  lstat: 'cannot read',
  access: 'cannot read',
  scandir: 'cannot read',
  opendir: 'cannot read',
  mkdir: 'cannot create',
  write: 'cannot write',
  rename: 'cannot rename',
  unlink: 'cannot delete',
  rmdir: 'cannot delete',
  connect: 'cannot connect to',
  listen: 'cannot listen on',
  bind: 'cannot listen on',
  getaddrinfo: 'cannot resolve',
}

/** Reasons that are clearer than those of the operating system. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its path is too long',
  ENOTFOUND: 'unknown host',
  EADDRINUSE: 'address in use',
  ECONNRESET: 'connection closed',
}

const REASON_BY_CODE: ReadonlyMap<string, string> = new Map(getSystemErrorMap().values())

function failureOf(error: unknown): SystemFailure | null {
  if (!(error instanceof Error)) return null
  const { code, syscall, path, hostname, address, port } = error as SystemError
  if (typeof code === 'string' && REASON_BY_CODE.has(code) && typeof syscall === 'string')
    return {
      code,
      syscall,
      subject: path ?? hostname ?? (address === undefined ? '' : hostPort(address, port)),
    }
  // Client libraries copy only the message into their own errors.
  const [, call, copied, subject = ''] =
    /^(connect|listen|getaddrinfo|read|write) (E[A-Z_]+)(?: (\S+))?$/.exec(error.message) ?? []
  return call === undefined || copied === undefined ? null : { code: copied, syscall: call, subject }
}

/** Returns the reason of a failed system call without its subject, such as `permission denied`, or null. */
export function systemErrorReason(error: unknown): string | null {
  const failure = failureOf(error)
  return failure === null ? null : (REASONS[failure.code] ?? REASON_BY_CODE.get(failure.code) ?? failure.code)
}

/** Describes a failed system call, such as `cannot open /a.pem: permission denied`. Returns null for other errors. */
export function systemErrorText(error: unknown): string | null {
  const failure = failureOf(error)
  if (failure === null) return null
  const { syscall, subject } = failure
  const action = ACTIONS[syscall] ?? `cannot ${syscall}`
  return `${subject === '' ? action.replace(/ (to|on)$/, '') : `${action} ${subject}`}: ${systemErrorReason(error)}`
}

function hostPort(address: string, port: number | undefined): string {
  if (port === undefined || port < 0) return address
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** Returns the message of any thrown value. For a system call, it names the file or address, not a code. */
export function messageOf(error: unknown): string {
  // A host with several addresses fails with one error per address; the first one represents them.
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  return systemErrorText(error) ?? (error instanceof Error ? error.message : String(error))
}

/** Returns the reason of a failure, for a message that already names the file or address. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return systemErrorReason(error) ?? messageOf(error)
}
