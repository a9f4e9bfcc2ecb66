// The Go client of the A2A project on the scenarios.
//
// Takes one ClientInput (see ../scenarios.ts) as JSON, prints one ClientLine per line.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

type clientInput struct {
	Edge       string   `json:"edge"`
	Binding    string   `json:"binding"`
	CardBase   string   `json:"cardBase"`
	HeadersURL string   `json:"headersUrl"`
	Scenarios  []string `json:"scenarios"`
	Data       any      `json:"data"`
	Large      struct {
		UTF8Bytes int    `json:"utf8Bytes"`
		SHA256    string `json:"sha256"`
	} `json:"large"`
}

var input clientInput

// credentials puts headers on each call, asked anew for each.
type credentials struct {
	a2aclient.PassthroughInterceptor
}

func (credentials) Before(ctx context.Context, req *a2aclient.Request) (context.Context, any, error) {
	answer, err := http.Get(input.HeadersURL)
	if err != nil {
		return ctx, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	var headers map[string]string
	if err := json.NewDecoder(answer.Body).Decode(&headers); err != nil {
		return ctx, nil, err
	}
	for name, value := range headers {
		req.ServiceParams.Append(name, value)
	}
	return ctx, nil, nil
}

type session struct {
	client *a2aclient.Client
}

type askOptions struct {
	task      *a2a.Task
	contextID string
	now       bool
}

func ask(text string, options askOptions) *a2a.SendMessageRequest {
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	if options.task != nil {
		message = a2a.NewMessageForTask(a2a.MessageRoleUser, options.task, a2a.NewTextPart(text))
	} else if input.Data != nil {
		message.Parts = append(message.Parts, a2a.NewDataPart(input.Data))
	}
	if options.contextID != "" {
		message.ContextID = options.contextID
	}
	return &a2a.SendMessageRequest{
		Message: message,
		Config:  &a2a.SendMessageConfig{ReturnImmediately: options.now},
	}
}

func (s *session) send(ctx context.Context, text string, options askOptions) (*a2a.Task, error) {
	answer, err := s.client.SendMessage(ctx, ask(text, options))
	if err != nil {
		return nil, err
	}
	task, ok := answer.(*a2a.Task)
	if !ok {
		return nil, fmt.Errorf("the answer is %T", answer)
	}
	return task, nil
}

func (s *session) get(ctx context.Context, id a2a.TaskID) (*a2a.Task, error) {
	return s.client.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
}

func running(task *a2a.Task) bool {
	return task.Status.State == a2a.TaskStateSubmitted || task.Status.State == a2a.TaskStateWorking
}

// settle polls until the task waits for somebody or is over.
func (s *session) settle(ctx context.Context, task *a2a.Task) (*a2a.Task, error) {
	for polls := 0; running(task); polls++ {
		if polls > 200 {
			return nil, fmt.Errorf("still %s", task.Status.State)
		}
		time.Sleep(25 * time.Millisecond)
		next, err := s.get(ctx, task.ID)
		if err != nil {
			return nil, err
		}
		task = next
	}
	return task, nil
}

// sendAndSettle is what a caller does that wants the outcome, however long the agent takes.
func (s *session) sendAndSettle(ctx context.Context, text string, options askOptions) (*a2a.Task, error) {
	task, err := s.send(ctx, text, options)
	if err != nil {
		return nil, err
	}
	return s.settle(ctx, task)
}

func textOf(parts a2a.ContentParts) string {
	text := ""
	for _, part := range parts {
		text += part.Text()
	}
	return text
}

func artifactText(task *a2a.Task) string {
	text := ""
	for _, artifact := range task.Artifacts {
		text += textOf(artifact.Parts)
	}
	return text
}

func statusText(task *a2a.Task) string {
	if task.Status.Message == nil {
		return ""
	}
	return textOf(task.Status.Message.Parts)
}

// equal compares what both print as JSON.
func equal(seen any, wanted any, what string) error {
	left, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	right, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	if string(left) != string(right) {
		return fmt.Errorf("%s: %s instead of %s", what, left, right)
	}
	return nil
}

// parseCard leaves out what the client's own parser does not take: security requirements in the form of a2a.proto, which
// has the scopes in an object. The scenario "card" shows whether that is still so.
func parseCard(body []byte) (*a2a.AgentCard, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	delete(fields, "securityRequirements")
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return agentcard.DefaultCardParser(rest)
}

func transport() a2aclient.FactoryOption {
	switch a2a.TransportProtocol(input.Binding) {
	case a2a.TransportProtocolJSONRPC:
		return a2aclient.WithJSONRPCTransport(nil)
	case a2a.TransportProtocolHTTPJSON:
		return a2aclient.WithRESTTransport(nil)
	default:
		return a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
}

func clientVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/a2aproject/a2a-go/v2" {
			return module.Version[1:]
		}
	}
	return "unknown"
}

func say(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

type result struct {
	Scenario string `json:"scenario"`
	OK       bool   `json:"ok"`
	Detail   string `json:"detail"`
}

func play(ctx context.Context, s *session, name string) (string, error) {
	scenario, ok := scenarios[name]
	if !ok {
		return "", errors.New("this client does not know the scenario")
	}
	return scenario(ctx, s)
}

func main() {
	if err := json.Unmarshal([]byte(os.Args[1]), &input); err != nil {
		panic(err)
	}
	say(map[string]string{"client": "a2a-go", "version": clientVersion(), "runtime": runtime.Version()})
	ctx := context.Background()
	resolver := agentcard.NewResolver(nil)
	resolver.CardParser = parseCard
	card, err := resolver.Resolve(ctx, input.CardBase)
	if err != nil {
		panic(err)
	}
	client, err := a2aclient.NewFromCard(
		ctx, card, a2aclient.WithDefaultsDisabled(), transport(), a2aclient.WithCallInterceptors(credentials{}),
	)
	if err != nil {
		panic(err)
	}
	for _, name := range input.Scenarios {
		detail, err := play(ctx, &session{client: client}, name)
		if err != nil {
			detail = err.Error()
		}
		say(result{Scenario: name, OK: err == nil, Detail: detail})
	}
}
