/** The table that Powertools wants in DynamoDB, made anew, so that each scenario starts with nothing. */
import { peer } from '../../examples/hammer/peers.mjs'

const NAME = 'idempotency'

export async function createTable({ config }) {
  const sdk = peer('@aws-sdk/client-dynamodb')
  const client = new sdk.DynamoDBClient(config)
  try {
    const { TableNames: names } = await client.send(new sdk.ListTablesCommand({}))
    if (names.includes(NAME)) await client.send(new sdk.DeleteTableCommand({ TableName: NAME }))
    await client.send(
      new sdk.CreateTableCommand({
        TableName: NAME,
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
      }),
    )
  } finally {
    client.destroy()
  }
}
