import { type BodyLanguages, type BodyQuery, decodeReserved, type Exchange } from '@sluice/core'
import { compileBodyQuery } from './body-query.js'
import { ConditionError } from './condition-error.js'
import { FUNCTIONS } from './functions.js'
import { binary, negative, not } from './operators.js'
import type { ConditionScope, Node } from './parser.js'
import { applied, type Code, dynamic, exact, fixed, isEqual, NO_EXCHANGE, type Value } from './value.js'
import { MAPS, SCALARS } from './variables.js'

/** Environment variables that conditions may read. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Current value of the variable of `exists()` or `all()`. */
interface Cell {
  value: Value
  readonly isDouble: boolean
}

/** Values that a condition may use in addition to the exchange. */
export interface ConditionContext {
  /** Environment variables. Default: those of the process. */
  readonly env?: Environment
  /** Query languages for bodies. Null: paths are not checked. Default: bodies cannot be read. */
  readonly bodies?: BodyLanguages | null | undefined
}

/** Compiles syntax trees to closures and folds constants. */
export class ConditionCompiler {
  readonly #env: Environment
  readonly #bodies: BodyLanguages | null | undefined
  readonly #scope: ConditionScope
  /** Queries on bodies in the compiled code. */
  readonly questions: BodyQuery[] = []
  /** Cells with the current values of the variables of `exists()` and `all()`, by name. */
  readonly #locals = new Map<string, Cell>()

  constructor(scope: ConditionScope, { env = process.env, bodies }: ConditionContext) {
    this.#scope = scope
    this.#env = env
    this.#bodies = bodies
  }

  /** Compiles a node. @throws RangeError for an expression that passes the type check but is not supported */
  compile(node: Node): Code {
    switch (node.op) {
      case 'value':
        return literal(node.args)
      case 'id':
        return this.#name(node.args)
      case '.':
        return this.#field(node.args[0], node.args[1])
      case '[]':
        return this.#index(node.args[0], node.args[1])
      case 'list':
        return list(node.args.map((item) => this.compile(item)))
      case 'call':
        return this.#call(node.args[0], node.args[1])
      case 'rcall':
        return this.#method(node.args[0], node.args[1], node.args[2])
      case '!_':
        return not(this.compile(node.args))
      case '-_':
        return negative(this.compile(node.args))
      case '?:':
        return this.#choice(node.args)
      case 'in':
        return this.#in(node.args[0], node.args[1])
      case '.?':
      case '[?]':
      case 'map':
        throw new RangeError(
          `'${node.input.slice(node.range.start, node.range.end)}' is not supported in conditions`,
        )
      default:
        return this.#binary(node.op, node.args[0], node.args[1])
    }
  }

  #binary(op: string, left: Node, right: Node): Code {
    const [a, b] = this.#compileAll([left, right])
    return binary(op, a!, b!)
  }

  /**
   * Compiles operands. Strings that are compared with a path or a path parameter are converted to canonical
   * form.
   */
  #compileAll(nodes: readonly Node[]): Code[] {
    const codes = nodes.map((node) => this.compile(node))
    return nodes.some(isOfPath) ? codes.map(canonicalConstant) : codes
  }

  #name(name: string): Code {
    const cell = this.#locals.get(name)
    if (cell !== undefined) return dynamic(() => cell.value, { isDouble: cell.isDouble })
    const scalar = Object.hasOwn(SCALARS, name) ? SCALARS[name] : undefined
    if (scalar === undefined) throw new RangeError(`'${name}' must be followed by one of its fields`)
    return dynamic(scalar)
  }

  #field(of: Node, name: string): Code {
    const path = pathOf(of)
    const scalar = path === null ? undefined : SCALARS[`${path}.${name}`]
    return scalar === undefined ? this.#entry(path, name) : dynamic(scalar)
  }

  #index(of: Node, key: Node): Code {
    const code = this.compile(key)
    if (code.isFixed && typeof code.run(NO_EXCHANGE) === 'string')
      return this.#entry(pathOf(of), code.run(NO_EXCHANGE) as string)
    const path = pathOf(of)
    const reader = path === null ? undefined : MAPS[path]
    if (reader !== undefined && path !== null)
      return dynamic((x) => reader(x, keyOf(path, String(code.run(x)))), { mayThrow: code.mayThrow })
    return element(this.compile(of), code)
  }

  /** Compiles access to a map entry whose key is known at load time. */
  #entry(path: string | null, key: string): Code {
    if (path === 'env') return fixed(this.#env[key] ?? null)
    const reader = path === null ? undefined : MAPS[path]
    if (reader === undefined || path === null)
      throw new RangeError(`'${path ?? key}' cannot be read like this`)
    const name = keyOf(path, key)
    return dynamic((x) => reader(x, name))
  }

  #call(name: string, args: readonly Node[]): Code {
    if (name === 'has') return applied([this.compile(args[0]!)], ([value]) => value !== null)
    return this.#function(name, args)
  }

  #method(name: string, receiver: Node, args: readonly Node[]): Code {
    if (pathOf(receiver) === 'req.body')
      return compileBodyQuery(name, args, {
        scope: this.#scope,
        bodies: this.#bodies,
        questions: this.questions,
      })
    if (name === 'exists' || name === 'all') return this.#quantifier(name === 'exists', receiver, args)
    return this.#function(name, [receiver, ...args])
  }

  #function(name: string, args: readonly Node[]): Code {
    const compiler = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
    if (compiler === undefined) throw new RangeError(`${name}() is not supported in conditions`)
    // "%24" in a pattern of matches() must not become "$", which has a meaning in patterns.
    return compiler(name === 'matches' ? args.map((arg) => this.compile(arg)) : this.#compileAll(args))
  }

  /** Compiles `list.exists(v, test)` and `list.all(v, test)`. */
  #quantifier(isExists: boolean, receiver: Node, args: readonly Node[]): Code {
    const name = args[0]!.args as string
    const items = this.compile(receiver)
    const outer = this.#locals.get(name)
    const cell: Cell = { value: null, isDouble: items.isDouble }
    this.#locals.set(name, cell)
    const test = this.compile(args[1]!)
    if (outer === undefined) this.#locals.delete(name)
    else this.#locals.set(name, outer)
    return dynamic(
      (x) => {
        for (const item of (items.run(x) ?? []) as readonly Value[]) {
          cell.value = item
          if (test.run(x) === isExists) return isExists
        }
        return !isExists
      },
      { mayThrow: items.mayThrow || test.mayThrow },
    )
  }

  #choice([test, yes, no]: readonly [Node, Node, Node]): Code {
    const condition = this.compile(test)
    const a = this.compile(yes)
    const b = this.compile(no)
    if (condition.isFixed) return condition.run(NO_EXCHANGE) === true ? a : b
    const traits = {
      isDouble: a.isDouble || b.isDouble,
      mayThrow: condition.mayThrow || a.mayThrow || b.mayThrow,
    }
    return dynamic((x) => (condition.run(x) === true ? a.run(x) : b.run(x)), traits)
  }

  #in(item: Node, collection: Node): Code {
    const path = pathOf(collection)
    if (path !== null && (MAPS[path] !== undefined || path === 'env'))
      return applied([this.#index(collection, item)], ([value]) => value !== null)
    const [needle, items] = this.#compileAll([item, collection]) as [Code, Code]
    if (items.isFixed) {
      const set = new Set(items.run(NO_EXCHANGE) as readonly Value[])
      return applied([needle], ([value]) => value !== null && value !== undefined && set.has(value))
    }
    return applied([needle, items], ([value, list]) =>
      ((list ?? []) as readonly Value[]).some((one) => isEqual(one, value ?? null)),
    )
  }
}

/** Returns the dotted name of a variable such as `req.header`, or null for other nodes. */
function pathOf(node: Node): string | null {
  if (node.op === 'id') return node.args
  if (node.op !== '.') return null
  const of = pathOf(node.args[0])
  return of === null ? null : `${of}.${node.args[1]}`
}

/** True if a node is `req.path` or one of `req.params`. */
function isOfPath(node: Node): boolean {
  const path = pathOf(node) ?? (node.op === '[]' ? pathOf(node.args[0]) : null)
  return path === 'req.path' || path === 'req.params' || path?.startsWith('req.params.') === true
}

function canonicalConstant(code: Code): Code {
  if (!code.isFixed) return code
  const decoded = (value: Value): Value =>
    typeof value === 'string' ? decodeReserved(value) : Array.isArray(value) ? value.map(decoded) : value
  return fixed(decoded(code.run(NO_EXCHANGE)), code.isDouble)
}

/** Lower-cases the names of header fields, which are case-insensitive. */
function keyOf(path: string, key: string): string {
  return path.endsWith('.header') ? key.toLowerCase() : key
}

function literal(value: unknown): Code {
  if (typeof value === 'bigint') return fixed(exact(Number(value)))
  if (typeof value === 'number') return fixed(value, true)
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return fixed(value)
  throw new RangeError('bytes and unsigned numbers are not supported in conditions')
}

/** Compiles a list. It is a list of doubles if any item is a double. */
function list(items: readonly Code[]): Code {
  const isDouble = items.some((item) => item.isDouble)
  return applied(items, (values) => values.slice(), isDouble)
}

function element(of: Code, index: Code): Code {
  return dynamic(
    (x) => {
      const values = of.run(x)
      const at = index.run(x)
      if (!Array.isArray(values) || typeof at !== 'number' || at < 0 || at >= values.length)
        throw new ConditionError('index out of range')
      return values[at] as Value
    },
    { isDouble: of.isDouble, mayThrow: true },
  )
}

/**
 * True if a condition reads the response, or the status of the upstream, which are not available while a
 * request is processed.
 */
export function readsResponse(node: Node, children: (node: Node) => Node[]): boolean {
  if (node.op === 'id' && node.args === 'res') return true
  if (node.op === '.' && pathOf(node) === 'upstream.status') return true
  return children(node).some((child) => readsResponse(child, children))
}

/** True if a condition reads the request body. */
export function readsBody(node: Node, children: (node: Node) => Node[]): boolean {
  if (node.op === '.' && pathOf(node) === 'req.body') return true
  return children(node).some((child) => readsBody(child, children))
}

/** Returns a compiled expression as a test; any value other than true counts as false. */
export function asTest(code: Code): (x: Exchange) => boolean {
  return (x) => code.run(x) === true
}
