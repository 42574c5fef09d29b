# An MCP server over stdio with one tool, `ask`, which asks the user for a name and returns the answer.
# It reads the compact JSON that the client writes, one message a line, by its text.
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case $line in
  *'"method":"initialize"'*)
    version=$(printf '%s' "$line" | sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p')
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"%s","capabilities":{"tools":{}},"serverInfo":{"name":"asker","version":"1"}}}\n' "$id" "$version"
    ;;
  *'"method":"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","description":"Asks for a name.","inputSchema":{"type":"object","properties":{}},"_meta":{"anthropic/alwaysLoad":true}}]}}\n' "$id"
    ;;
  *'"method":"tools/call"'*)
    call=$id
    printf '{"jsonrpc":"2.0","id":"question","method":"elicitation/create","params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}\n'
    ;;
  *'"id":"question"'*)
    answer=$(printf '%s' "$line" | sed 's/.*"result"://' | tr -d '"\\')
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ANSWERED %s"}]}}\n' "$call" "$answer"
    ;;
  *'"method":"notifications/'*) ;;
  *'"method":'*)
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
    ;;
  esac
done
