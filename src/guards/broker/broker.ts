/**
 * `createBroker`: every call of a model's tool goes through here, in one order: validate the schema, the
 * right and the version; claim; execute with the key, retrying what is transient with the same key; settle;
 * audit; answer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Duration, toMs } from '../../core/duration.js'
import { invalidIntent } from '../../core/errors.js'
import { onlyKnown } from '../../core/known.js'
import { quietly } from '../../core/quietly.js'
import type { Ibid } from '../../ibid.js'
import type { JsonSchema } from '../../key/index.js'
import { withoutPretence } from './arguments.js'
import { type CallContext, readContext } from './context.js'
import type { EffectClass, Tool } from './contract.js'
import { callDirectly } from './direct.js'
import type { Checked } from './field.js'
import type { InputSchema } from './input.js'
import { type ModelObservation, modelView } from './model.js'
import { type Observation, type ObservationError, refusal } from './observation.js'
import { makeReady, type ReadyTool } from './ready.js'
import { callReceipted, type Desk } from './receipted.js'
import type { Pace } from './one-try.js'
import { serves } from './version.js'
import {
  cancelled,
  forbiddenScope,
  invalidArguments,
  isUnsettled,
  unknownTool,
  versionMismatch,
} from './words.js'

export interface BrokerOptions {
  readonly ibid: Pick<Ibid, 'once' | 'get' | 'tenant'>
  readonly tools: readonly Tool<never>[]
  /** For programs with a single tenant; default: that of createIbid. Without one every call must name its own. */
  readonly tenant?: string
  /** Taken out of everything that a model sees. */
  readonly secrets?: readonly (string | RegExp)[]
  /** The longest result that a model sees, in characters of JSON. Default 20,000. */
  readonly maxModelCharacters?: number
  /** How long `answer` asks again for a result that is still open. Default 30 s. */
  readonly patience?: Duration
  /** Gets the raw errors of tools, which no observation carries. */
  readonly onError?: (error: unknown, tool: string) => void
  /** For tests and simulations. */
  readonly pace?: Partial<Pace>
}

/** What a framework needs to know of a tool to offer it to a model. */
export interface ToolCard {
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly version: string
  readonly effect: EffectClass
  readonly scope: string | undefined
  /** The schema as the contract has it. */
  readonly input: InputSchema
  /** Undefined where `input` cannot be turned into JSON Schema and the contract gives none. */
  readonly inputSchema: JsonSchema | undefined
}

export interface Answer {
  readonly observation: Observation
  readonly shown: ModelObservation
}

export interface Broker {
  readonly tools: readonly ToolCard[]
  /** Never rejects for what a model did; rejects with INVALID_INTENT for a mistake in the context. */
  call(name: string, args: unknown, context: CallContext): Promise<Observation>
  /**
   * `call`, made again under the same context as long as its answer is open and patience lasts; and what the
   * model gets to see of it. What adapters use.
   */
  answer(name: string, args: unknown, context: CallContext, model?: string): Promise<Answer>
  /** What the model gets to see. The same for the first answer and for every replay. */
  toModel(name: string, observation: Observation, model?: string): ModelObservation
  /** The contract of a tool. */
  contract(name: string): Tool | undefined
}

const KNOWN = [
  'ibid',
  'tools',
  'tenant',
  'secrets',
  'maxModelCharacters',
  'patience',
  'onError',
  'pace',
] satisfies (keyof BrokerOptions)[]
const MODEL_CHARACTERS = 20_000

export function createBroker(options: BrokerOptions): Broker {
  if (typeof options?.ibid?.once !== 'function') {
    throw invalidIntent('createBroker got no ibid', 'give it one: createBroker({ ibid, tools: [refund] })')
  }
  onlyKnown(options, KNOWN, 'createBroker')
  const tools = makeReady(options.tools as readonly unknown[] as readonly Tool[])
  const view = {
    secrets: options.secrets ?? [],
    maxCharacters: options.maxModelCharacters ?? MODEL_CHARACTERS,
  }
  const desk: Desk = {
    ibid: options.ibid,
    pace: {
      elapsedMs: () => performance.now(),
      pause: (ms) => sleep(ms),
      random: Math.random,
      ...options.pace,
    },
    onError: (error, tool) => quietly(() => options.onError?.(error, tool)),
  }

  const tenant = options.tenant ?? options.ibid.tenant
  const patienceMs = toMs(options.patience ?? '30s', 'patience')

  async function call(name: string, given: unknown, context: CallContext): Promise<Observation> {
    const caller = readContext(context, tenant)
    const tool = tools.get(name)
    if (!tool) return refusal(unknownTool(name, [...tools.keys()]))
    const looked = check(tool, given)
    const checked = looked instanceof Promise ? await looked : looked
    if (checked.problems) return refusal(invalidArguments(checked.problems))
    const refused = refuse(tool, caller)
    if (refused) return refusal(refused)
    const order = { tool, caller, args: checked.value }
    return tool.terms.receipted ? callReceipted(desk, order) : callDirectly(desk, order)
  }

  const toModel: Broker['toModel'] = (name, observation, model) =>
    modelView(tools.get(name)?.contract, observation, model, view)

  return {
    tools: [...tools.values()].map(cardOf),
    call,
    toModel,
    async answer(name, args, context, model) {
      const stopMs = desk.pace.elapsedMs() + patienceMs
      let observation = await call(name, args, context)
      while (!observation.ok && isUnsettled(observation.error)) {
        const leftMs = stopMs - desk.pace.elapsedMs()
        if (leftMs <= 0 || context.signal?.aborted) break
        await desk.pace.pause(Math.min(observation.error.retry_after_ms ?? 1_000, leftMs))
        // Another call would say that it was cancelled before it began, and this one has been made.
        if (context.signal?.aborted) break
        observation = await call(name, args, context)
      }
      return { observation, shown: toModel(name, observation, model) }
    },
    contract: (name) => tools.get(name)?.contract,
  }
}

function check(tool: ReadyTool, given: unknown): Checked | Promise<Checked> {
  try {
    const checked = tool.input.check(withoutPretence(given, tool.declared))
    return checked instanceof Promise ? checked.catch(() => UNCHECKED) : checked
  } catch {
    return UNCHECKED
  }
}

/** A schema whose own code throws has not accepted anything. */
const UNCHECKED: Checked = { problems: [{ field: '', message: 'they could not be checked' }] }

function refuse({ contract }: ReadyTool, caller: CallContext): ObservationError | undefined {
  const { scope, version } = contract
  if (scope !== undefined && !caller.scopes?.includes(scope)) return forbiddenScope(scope)
  if (caller.version !== undefined && !serves(version, caller.version))
    return versionMismatch(caller.version, version)
  return caller.signal?.aborted ? cancelled() : undefined
}

function cardOf({ contract, input }: ReadyTool): ToolCard {
  const { name, title, description, version, effect, scope } = contract
  return {
    name,
    title,
    description,
    version,
    effect,
    scope,
    input: contract.input,
    inputSchema: input.jsonSchema,
  }
}
