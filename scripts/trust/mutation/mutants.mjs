/**
 * Small wrong changes of a source file, one at a time: an operator replaced, a condition decided beforehand, a
 * negation dropped, a number or a boolean changed, a result thrown away, a body emptied. Types, imports and texts
 * are left alone: the compiler answers for the first two, and a text is for people.
 */
import { parseAst } from 'vite'

const OPERATORS = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&': ['|'],
  '|': ['&'],
  '>>>': ['<<'],
  '<<': ['>>>'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
}

/** `{ line, from, to, put, what }`: the text from `from` to `to` becomes `put`. */
export function mutantsOf(source) {
  const found = []
  const add = (node, put, what) => {
    const line = source.slice(0, node.start).split('\n').length
    found.push({ line, from: node.start, to: node.end, put, what })
  }
  visit(parseAst(source, { lang: 'ts' }), (node) => mutate(node, source, add))
  return found
}

function mutate(node, source, add) {
  const text = (part) => source.slice(part.start, part.end)
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      // Texts are joined with a plus, too.
      if (node.operator === '+' && [node.left, node.right].some(isText)) return
      for (const operator of OPERATORS[node.operator] ?? [])
        add(
          node,
          `(${text(node.left)} ${operator} ${text(node.right)})`,
          `${node.operator} becomes ${operator}`,
        )
      return
    case 'UnaryExpression':
      if (node.operator === '!' || node.operator === '-')
        add(node, `(${text(node.argument)})`, `${node.operator} dropped`)
      return
    case 'ConditionalExpression':
    case 'IfStatement':
      add(node.test, 'true', 'condition always true')
      add(node.test, 'false', 'condition always false')
      return
    case 'Literal':
      if (typeof node.value === 'boolean')
        add(node, String(!node.value), `${node.value} becomes ${!node.value}`)
      if (typeof node.value === 'number')
        add(node, `${node.value + 1}`, `${node.raw} becomes ${node.value + 1}`)
      return
    case 'ReturnStatement':
      if (node.argument && text(node.argument) !== 'undefined')
        add(node.argument, '(undefined as never)', 'returns nothing')
      return
    case 'FunctionDeclaration':
    case 'FunctionExpression':
      if (node.body?.body?.length > 0) add(node.body, '{ return undefined as never }', 'body emptied')
      return
    default:
  }
}

function isText(node) {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
}

/** Types are not walked into, and neither is what a member is called. */
function visit(node, see) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) return node.forEach((one) => visit(one, see))
  if (typeof node.type !== 'string' || /^(TSType|TSInterface|TSEnum|ImportDeclaration)/.test(node.type))
    return
  see(node)
  for (const [name, child] of Object.entries(node)) {
    if (name === 'typeAnnotation' || name === 'typeParameters' || name === 'returnType') continue
    if (name === 'key' && node.computed === false) continue
    visit(child, see)
  }
}

export function apply(source, { from, to, put }) {
  return source.slice(0, from) + put + source.slice(to)
}
