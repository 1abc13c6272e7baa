import type { DocumentDraft } from '../draft.js'
import { isProtection, MAPPED, NOT_NEEDED, reasonFor } from './directive-kinds.js'
import type { Directive } from './parse.js'

/** Blocks whose entries are not directives. */
const PLAIN_BLOCK = /^(types|map|geo|split_clients)$/
const NAME = /^[a-z][a-z0-9_]{0,63}$/

/** Directives of the configuration that were mapped or left out. */
export class DirectiveUse {
  readonly #draft: DocumentDraft
  readonly #asked = new Set(MAPPED.split(' '))
  readonly #left = new Set<Directive>()
  readonly #seen = new Set<Directive>()
  /** Directives that are mapped, although not all of their name are. */
  readonly mapped = new Set<Directive>()

  constructor(draft: DocumentDraft) {
    this.#draft = draft
  }

  /** True if routes stay open whose protection was not mapped. */
  get allowsUnprotected(): boolean {
    return this.#draft.allowsUnprotected
  }

  /** Records that directives of this name are mapped. */
  ask(name: string): void {
    this.#asked.add(name)
  }

  /** Records that directives were read for a route. Others of the same name may still be unmapped. */
  see(directives: readonly Directive[]): void {
    for (const one of directives) this.#seen.add(one)
  }

  /** Reports a directive that was not mapped. */
  leaveOut(directive: Directive, reason: string, remedy?: string): void {
    this.#left.add(directive)
    this.#draft.report.leaveOut({ ...textOf(directive), reason, remedy })
  }

  /** Reports a protection that was not mapped, and returns its text for `unprotected` of a route. */
  leaveUnprotected(directive: Directive, reason: string, remedy?: string): string {
    this.#left.add(directive)
    this.#draft.reportUnprotected({ ...textOf(directive), reason, remedy })
    return textOf(directive).what
  }

  /** Passes over a block whose absence has been reported. */
  skip(block: Directive): void {
    this.#left.add(block)
  }

  /** Reports a directive that was not mapped, and that may matter for security. The route stays open. */
  warn(directive: Directive, reason: string, remedy: string): void {
    this.#left.add(directive)
    this.#draft.report.security({ ...textOf(directive), reason, remedy })
  }

  /** Reports a choice or a difference. */
  note(directive: Directive, reason: string, remedy?: string): void {
    this.#draft.report.note({ ...textOf(directive), reason, remedy })
  }

  /** Counts all directives, and reports those that nothing has mapped. */
  finish(directives: readonly Directive[]): void {
    const { report } = this.#draft
    for (const directive of directives) {
      const { name, block } = directive
      if (this.#left.has(directive)) continue
      if (NOT_NEEDED.test(name)) report.notNeeded++
      else if (this.#asked.has(name) || this.#seen.has(directive) || this.mapped.has(directive))
        report.mapped++
      else {
        this.leaveOut(directive, ...reasonFor(name))
        continue
      }
      if (block !== null && !PLAIN_BLOCK.test(name)) this.finish(block)
    }
  }
}

/** Returns the position and name of a directive. Invalid names may come from a file that is not a configuration. */
function textOf({ name, args, file, line, block }: Directive): {
  readonly what: string
  readonly place: string
} {
  const what = NAME.test(name) ? name : '(not a directive)'
  return {
    what: block === null || args.length === 0 || !NAME.test(name) ? what : `${what} ${args.join(' ')}`,
    place: `${file}:${line}`,
  }
}

/** The directives of a block and of the blocks around it, from which it inherits. */
export class Scope {
  readonly directives: readonly Directive[]
  readonly use: DirectiveUse
  readonly #parent: Scope | null
  readonly #variables = new Map<string, string>()
  readonly #byName = new Map<string, Directive[]>()
  #protections: readonly Directive[] | null = null

  constructor(directives: readonly Directive[], parent: Scope | null, use: DirectiveUse) {
    this.directives = directives
    this.use = use
    this.#parent = parent
    for (const directive of directives) {
      if (!this.#byName.has(directive.name)) this.#byName.set(directive.name, [])
      this.#byName.get(directive.name)!.push(directive)
    }
    for (const { args } of this.own('set')) this.#variables.set(args[0] ?? '', args[1] ?? '')
  }

  /** Returns the scope of a block in this one. */
  inner(block: readonly Directive[]): Scope {
    return new Scope(block, this, this.use)
  }

  /** Returns the directives of a name in this block only. */
  own(name: string): readonly Directive[] {
    const own = this.#byName.get(name) ?? []
    this.use.see(own)
    return own
  }

  /** Returns the last directive of a name in the closest block that has one. */
  find(name: string): Directive | undefined {
    const outer = this.#parent?.find(name)
    return this.own(name).at(-1) ?? outer
  }

  /** Returns the first argument of a directive, or undefined if it is absent. */
  value(name: string): string | undefined {
    return this.find(name)?.args[0]
  }

  /** Returns the directives of these names in the closest block that has any of them, as nginx inherits lists. */
  list(...names: readonly string[]): readonly Directive[] {
    const outer = this.#parent?.list(...names) ?? []
    const own = names.flatMap((name) => this.own(name))
    return own.length > 0 ? this.directives.filter(({ name }) => names.includes(name)) : outer
  }

  /** True if the answer depends on the address of the client. */
  usesAddress(): boolean {
    return (
      this.list('allow', 'deny', 'limit_req', 'limit_conn').length > 0 ||
      this.directives.some(({ name, args }) => name === 'if' && args.join(' ').includes('remote_addr')) ||
      this.#parent?.usesAddress() === true
    )
  }

  /** Returns the protections in this and outer blocks that the import cannot map. The closest block decides. */
  protections(): readonly Directive[] {
    // Each `if`, `include` and `rewrite` applies on its own; of all others, the closest block decides.
    const outer = (one: Directive): boolean =>
      /^(if|include|rewrite)$/.test(one.name) || !this.#byName.has(one.name)
    this.#protections ??= [
      ...(this.#parent?.protections() ?? []).filter(outer),
      ...this.directives.filter(isProtection),
    ]
    return this.#protections
  }

  /** Returns a text with variables of `set` replaced by their values. */
  resolve(text: string): string {
    return text.replaceAll(
      /\$\{?([A-Za-z_]\w*)\}?/g,
      (whole, name: string) => this.#variable(`$${name}`) ?? whole,
    )
  }

  #variable(name: string): string | undefined {
    const value = this.#variables.get(name)
    if (value === undefined) return this.#parent === null ? undefined : this.#parent.#variable(name)
    return value.includes('$') ? undefined : value
  }
}
