/** Defects in the broker: keys, order, retries, ambiguity, divergence, what a model sees. */
const at = (file, tests, defects) =>
  defects.map(({ name, ...defect }) => ({
    name: `broker: ${name}`,
    file: `src/guards/broker/${file}`,
    tests: tests.map((test) => `test/broker/${test}.test.ts`),
    ...defect,
  }))

export const broker = [
  ...at(
    'input.ts',
    ['arguments'],
    [
      {
        name: 'a promise of another realm is taken for arguments that are good',
        find: "return 'then' in result ?",
        put: 'return result instanceof Promise ?',
      },
    ],
  ),
  ...at(
    'context.ts',
    ['order'],
    [
      {
        name: 'a tenant that was not found becomes the broker’s own',
        find: '(context.tenant === undefined ? tenant : context.tenant) as string',
        put: '(context.tenant ?? tenant) as string',
      },
    ],
  ),
  ...at(
    'redact.ts',
    ['model'],
    [
      {
        name: 'the model sees keys',
        find: "      ...matches(text, KEY, '[key]'),\n",
        put: '',
      },
      {
        name: 'a short secret leaves the rest of a longer one',
        find: 'end = Math.max(end, to)',
        put: 'end = from < end ? end : to',
      },
    ],
  ),
  ...at(
    'words.ts',
    ['ambiguity'],
    [
      {
        name: 'a system that shuts down has the model make the call again',
        find: 'action: NOT_AGAIN,\n  },\n  VALUE',
        put: "action: 'make exactly the same call again later',\n  },\n  VALUE",
      },
    ],
  ),
  ...at(
    'words.ts',
    ['model'],
    [
      {
        name: 'a refusal for good says when to come again, and its replay does not',
        find: 'retryAfterMs === undefined || !retriable ? {}',
        put: 'retryAfterMs === undefined ? {}',
      },
    ],
  ),
  ...at(
    'direct.ts',
    ['order'],
    [
      {
        name: 'a call whose resource cannot be found rejects',
        find: "contract.effect === 'read' ? null : named(desk, contract, args)",
        put: "contract.effect === 'read' ? null : resourceOf(contract.resource, args)",
      },
    ],
  ),
  ...at(
    'ladder.ts',
    ['ladder'],
    [
      {
        name: 'whoever brings a host’s key is shown what another principal did',
        find: "if (rung === 'host' && principal !== undefined)",
        put: "if (rung === 'host' && principal === '')",
      },
      {
        name: 'a tool-call id goes before the step',
        find: 'if (stepId !== undefined) {',
        put: 'if (stepId !== undefined && toolCallId === undefined) {',
      },
      {
        name: 'the tool is not in the key of a step',
        find: 'const parts = { tenant, layer: LAYER, tool, ordinal, run, step: stepId }',
        put: 'const parts = { tenant, layer: LAYER, ordinal, run, step: stepId }',
      },
      {
        name: 'a deliberate repeat is taken for a duplicate',
        find: 'const parts = { tenant, layer: LAYER, tool, ordinal, run, step: stepId }',
        put: 'const parts = { tenant, layer: LAYER, tool, run, step: stepId }',
      },
    ],
  ),
  ...at(
    'receipted.ts',
    ['ladder', 'divergence'],
    [
      {
        name: 'the last rung replays silently',
        find: "if (!replayed || rung !== 'arguments') return",
        put: 'if (key) return',
      },
      {
        name: 'what was done in part counts as nothing',
        find: "first?.state === 'failed' && first.error?.code !== 'PARTIAL_SUCCESS'",
        put: "first?.state === 'failed'",
      },
      {
        name: 'what was given back counts as refused',
        find: "const refused = first?.state === 'failed' &&",
        put: "const refused = first?.state !== 'succeeded' &&",
      },
    ],
  ),
  ...at(
    'tries.ts',
    ['retries', 'ambiguity'],
    [
      {
        name: 'an ambiguous failure without key or check is tried again',
        find: "return verdict(false, needsHuman('the tool failed, and nothing can say whether it happened', error))",
        put: "return verdict(true, needsHuman('the tool failed, and nothing can say whether it happened', error))",
      },
      {
        name: 'the person is not asked about what was not executed',
        find: 'return terms.human',
        put: 'return terms.human && terms.repeatable',
      },
      {
        name: 'a try that was not executed speaks for the one before',
        find: 'return doubtful && terms.repeatable ?',
        put: 'return doubtful && terms.human ?',
      },
      {
        name: 'tries go on past the lease',
        find: '+ delayMs + terms.timeoutMs <= terms.leaseMs',
        put: '+ 0 * delayMs <= terms.leaseMs * 10',
      },
      {
        name: 'Retry-After is not waited for',
        find: 'return asked === undefined ? jittered : Math.max(asked, jittered)',
        put: 'return asked === undefined ? jittered : jittered',
      },
    ],
  ),
  ...at(
    'ambiguity.ts',
    ['ambiguity'],
    [
      {
        name: 'a check that finds nothing is believed at once',
        find: 'if (answer.found === true || leftMs <= 0 ||',
        put: 'if (answer.found !== undefined || leftMs <= 0 ||',
      },
      {
        name: 'a check that cannot tell has found nothing',
        find: "return answer?.found === true || answer?.found === false ? answer : { found: 'unclear' }",
        put: 'return answer?.found === true ? answer : { found: false }',
      },
    ],
  ),
  ...at(
    'terms.ts',
    ['processes'],
    [
      {
        name: 'a crash without key or check is retried',
        find: "recovery: acceptsKey && !human ? 'retry' : 'hold'",
        put: "recovery: human ? 'hold' : 'retry'",
      },
    ],
  ),
  ...at(
    'arguments.ts',
    ['injection'],
    [
      {
        name: 'arguments that look like keys are left in',
        find: 'return looksLikeKey(name) ||',
        put: 'return',
      },
      {
        name: 'arguments that look like tenants and runs are left in',
        find: '(PLACES.has(name) && declared !== undefined)',
        put: 'false',
      },
    ],
  ),
  ...at(
    'broker.ts',
    ['order'],
    [
      {
        name: 'a caller without rights is let through',
        find: '!caller.scopes?.includes(scope)',
        put: 'caller.scopes?.includes(scope) === false',
      },
      {
        name: 'the version is not looked at',
        find: 'caller.version !== undefined && !serves(version, caller.version)',
        put: 'caller.version !== undefined && false',
      },
    ],
  ),
  ...at(
    'broker.ts',
    ['ambiguity'],
    [
      {
        name: 'a model that is called off is told that nothing happened, although it may have',
        find: '        if (context.signal?.aborted) break\n        observation =',
        put: '        observation =',
      },
    ],
  ),
  ...at(
    'receipted.ts',
    ['arguments'],
    [
      {
        name: 'a name with a line separator in it ends the run of the model that wrote it',
        find: "const [, field = '', what = message] = NAMED.exec(message) ?? []",
        put: "const [, field = '', what = ''] = /^payload\\.?(\\S*) (.*)$/.exec(message) ?? []\n  if (!what) throw error",
      },
    ],
  ),
  ...at(
    'model.ts',
    ['model', 'ambiguity'],
    [
      {
        name: 'a result that cannot be shown is told as a call that failed',
        find: '      return UNSHOWN\n',
        put: "      throw new TypeError('it cannot be shown')\n",
      },
      {
        name: 'the model is told to repeat what is still open',
        find: 'receipted && isUnsettled(observation.error) ?',
        put: 'receipted && !observation.error ?',
      },
    ],
  ),
  ...at(
    'lint-promises.ts',
    ['lint'],
    [
      {
        name: 'an irreversible effect needs nobody',
        find: "!contract.check &&\n      !contract.requiresHumanOnRetry &&\n      'the effect cannot",
        put: "contract.check &&\n      !contract.requiresHumanOnRetry &&\n      'the effect cannot",
      },
    ],
  ),
]
