package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

// told is what a stream has told so far. The first frame has to be the task.
type told struct {
	task   *a2a.Task
	state  a2a.TaskState
	order  []a2a.ArtifactID
	texts  map[a2a.ArtifactID]string
	chunks int
	frames int
}

func (t *told) add(artifact *a2a.Artifact, appended bool) {
	before, known := t.texts[artifact.ID]
	if !known {
		t.order = append(t.order, artifact.ID)
	}
	if !appended {
		before = ""
	}
	t.texts[artifact.ID] = before + textOf(artifact.Parts)
}

func (t *told) text() string {
	var text strings.Builder
	for _, id := range t.order {
		text.WriteString(t.texts[id])
	}
	return text.String()
}

// follow reads to the end, or until enough says so; then the connection is dropped.
func follow(stream iter.Seq2[a2a.Event, error], enough func(*told) (bool, error)) (*told, error) {
	var seen *told
	for event, err := range stream {
		if err != nil {
			return nil, err
		}
		switch frame := event.(type) {
		case *a2a.Task:
			if seen != nil {
				return nil, errors.New("a second task frame")
			}
			seen = &told{task: frame, state: frame.Status.State, texts: map[a2a.ArtifactID]string{}}
			for _, artifact := range frame.Artifacts {
				seen.add(artifact, false)
			}
		case *a2a.TaskArtifactUpdateEvent:
			if seen == nil {
				return nil, errors.New("an artifact before the task")
			}
			seen.add(frame.Artifact, frame.Append)
			seen.chunks++
		case *a2a.TaskStatusUpdateEvent:
			if seen == nil {
				return nil, errors.New("a status before the task")
			}
			seen.state = frame.Status.State
		default:
			return nil, fmt.Errorf("a frame is %T", event)
		}
		seen.frames++
		if enough == nil {
			continue
		}
		stop, err := enough(seen)
		if err != nil {
			return nil, err
		}
		if stop {
			break
		}
	}
	if seen == nil {
		return nil, errors.New("the stream was empty")
	}
	return seen, nil
}

func (s *session) stream(ctx context.Context, text string) iter.Seq2[a2a.Event, error] {
	return s.client.SendStreamingMessage(ctx, ask(text, askOptions{}))
}

func (s *session) subscribe(ctx context.Context, id a2a.TaskID) iter.Seq2[a2a.Event, error] {
	return s.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id})
}

func readCard(ctx context.Context, _ *session) (string, error) {
	card, err := agentcard.DefaultResolver.Resolve(ctx, input.CardBase)
	if err != nil {
		return "", err
	}
	shown := []string{}
	for _, one := range card.SupportedInterfaces {
		shown = append(shown, fmt.Sprintf("%s %s", one.ProtocolBinding, one.ProtocolVersion))
	}
	list := strings.Join(shown, ", ")
	if !strings.Contains(list, input.Binding+" 1.0") {
		return "", errors.New(list)
	}
	return list, nil
}

func send(ctx context.Context, s *session) (string, error) {
	task, err := s.send(ctx, "hello Ada", askOptions{})
	if err != nil {
		return "", err
	}
	seen := []string{string(task.Status.State), artifactText(task), statusText(task)}
	return seen[0], equal(seen, []string{"TASK_STATE_COMPLETED", "Hello, Ada", "Said hello"}, "task")
}

func poll(ctx context.Context, s *session) (string, error) {
	task, err := s.send(ctx, "hold", askOptions{now: true})
	if err != nil {
		return "", err
	}
	if !running(task) {
		return "", fmt.Errorf("answered %s", task.Status.State)
	}
	again, err := s.send(ctx, "go", askOptions{task: task, now: true})
	if err != nil {
		return "", err
	}
	done, err := s.settle(ctx, again)
	if err != nil {
		return "", err
	}
	seen := []string{string(done.ID), string(done.Status.State), artifactText(done)}
	detail := fmt.Sprintf("%s, then %s", task.Status.State, done.Status.State)
	return detail, equal(seen, []string{string(task.ID), "TASK_STATE_COMPLETED", "before after"}, "task")
}

func stream(ctx context.Context, s *session) (string, error) {
	seen, err := follow(s.stream(ctx, "hello Ada"), nil)
	if err != nil {
		return "", err
	}
	wanted := []string{"TASK_STATE_COMPLETED", "Hello, Ada"}
	return fmt.Sprintf("%d frames", seen.frames), equal([]string{string(seen.state), seen.text()}, wanted, "stream")
}

func resubscribe(ctx context.Context, s *session) (string, error) {
	dropped, err := follow(s.stream(ctx, "hold"), func(t *told) (bool, error) { return t.text() == "before ", nil })
	if err != nil {
		return "", err
	}
	seen, err := follow(s.subscribe(ctx, dropped.task.ID), func(t *told) (bool, error) {
		if t.frames > 1 {
			return false, nil
		}
		_, err := s.send(ctx, "go", askOptions{task: t.task, now: true})
		return false, err
	})
	if err != nil {
		return "", err
	}
	wanted := []string{string(dropped.task.ID), "TASK_STATE_COMPLETED", "before after"}
	detail := fmt.Sprintf("%d frames after the drop", seen.frames)
	return detail, equal([]string{string(seen.task.ID), string(seen.state), seen.text()}, wanted, "subscription")
}

func get(ctx context.Context, s *session) (string, error) {
	sent, err := s.send(ctx, "hello Ada", askOptions{})
	if err != nil {
		return "", err
	}
	lengths := []int{}
	for _, length := range []int{0, 1} {
		task, err := s.client.GetTask(ctx, &a2a.GetTaskRequest{ID: sent.ID, HistoryLength: &length})
		if err != nil {
			return "", err
		}
		lengths = append(lengths, len(task.History))
		if err := equal(artifactText(task), "Hello, Ada", "artifact"); err != nil {
			return "", err
		}
	}
	return string(sent.Status.State), equal(lengths, []int{0, 1}, "history")
}

func list(ctx context.Context, s *session) (string, error) {
	first, err := s.send(ctx, "hello A", askOptions{})
	if err != nil {
		return "", err
	}
	second, err := s.send(ctx, "hello B", askOptions{contextID: first.ContextID})
	if err != nil {
		return "", err
	}
	all, err := s.client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: first.ContextID})
	if err != nil {
		return "", err
	}
	seen := []string{}
	for _, task := range all.Tasks {
		seen = append(seen, string(task.ID), artifactText(task))
	}
	detail := fmt.Sprintf("%d tasks", all.TotalSize)
	return detail, equal(seen, []string{string(second.ID), "", string(first.ID), ""}, "list")
}

func page(ctx context.Context, s *session) (string, error) {
	first, err := s.send(ctx, "hello A", askOptions{})
	if err != nil {
		return "", err
	}
	if _, err := s.send(ctx, "hello B", askOptions{contextID: first.ContextID}); err != nil {
		return "", err
	}
	texts, token := []string{}, ""
	for range 2 {
		query := a2a.ListTasksRequest{ContextID: first.ContextID, PageSize: 1, PageToken: token, IncludeArtifacts: true}
		answer, err := s.client.ListTasks(ctx, &query)
		if err != nil {
			return "", err
		}
		for _, task := range answer.Tasks {
			texts = append(texts, artifactText(task))
		}
		token = answer.NextPageToken
	}
	return "2 pages", equal(append(texts, token), []string{"Hello, B", "Hello, A", ""}, "pages")
}

func cancel(ctx context.Context, s *session) (string, error) {
	task, err := s.send(ctx, "wait", askOptions{now: true})
	if err != nil {
		return "", err
	}
	canceled, err := s.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID})
	if err != nil {
		return "", err
	}
	seen, err := s.get(ctx, task.ID)
	if err != nil {
		return "", err
	}
	states := []a2a.TaskState{canceled.Status.State, seen.Status.State}
	wanted := []a2a.TaskState{a2a.TaskStateCanceled, a2a.TaskStateCanceled}
	return string(canceled.Status.State), equal(states, wanted, "states")
}

func refusals(ctx context.Context, s *session) (string, error) {
	if _, err := s.get(ctx, "no-such-task"); !errors.Is(err, a2a.ErrTaskNotFound) {
		return "", fmt.Errorf("an unknown task: %v", err)
	}
	done, err := s.sendAndSettle(ctx, "hello Ada", askOptions{})
	if err != nil {
		return "", err
	}
	_, err = s.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: done.ID})
	if !errors.Is(err, a2a.ErrTaskNotCancelable) {
		return "", fmt.Errorf("a finished task: %v", err)
	}
	return "refused", nil
}

func finishedStream(ctx context.Context, s *session) (string, error) {
	done, err := s.sendAndSettle(ctx, "hello Ada", askOptions{})
	if err != nil {
		return "", err
	}
	seen, err := follow(s.subscribe(ctx, done.ID), nil)
	if input.Edge == "a2a" {
		if !errors.Is(err, a2a.ErrUnsupportedOperation) {
			return "", fmt.Errorf("a subscription to a finished task: %v", err)
		}
		return "refused", nil
	}
	if err != nil {
		return "", err
	}
	return "shown", equal([]any{seen.frames, seen.state}, []any{1, a2a.TaskStateCompleted}, "subscription")
}

func followUp(ctx context.Context, s *session) (string, error) {
	asked, err := s.sendAndSettle(ctx, "ask", askOptions{})
	if err != nil {
		return "", err
	}
	question := []string{string(asked.Status.State), statusText(asked)}
	if err := equal(question, []string{"TASK_STATE_INPUT_REQUIRED", "Which colour?"}, "question"); err != nil {
		return "", err
	}
	answered, err := s.sendAndSettle(ctx, "blue", askOptions{task: asked})
	if err != nil {
		return "", err
	}
	seen := []string{string(answered.ID), answered.ContextID, string(answered.Status.State), statusText(answered)}
	wanted := []string{string(asked.ID), asked.ContextID, "TASK_STATE_COMPLETED", "You said blue"}
	return statusText(answered), equal(seen, wanted, "answer")
}

func large(ctx context.Context, s *session) (string, error) {
	seen, err := follow(s.stream(ctx, "large"), nil)
	if err != nil {
		return "", err
	}
	fetched, err := s.get(ctx, seen.task.ID)
	if err != nil {
		return "", err
	}
	for _, text := range []string{seen.text(), artifactText(fetched)} {
		sum := sha256.Sum256([]byte(text))
		fingerprint := []any{len(text), hex.EncodeToString(sum[:])}
		if err := equal(fingerprint, []any{input.Large.UTF8Bytes, input.Large.SHA256}, "artifact"); err != nil {
			return "", err
		}
	}
	if seen.chunks < 6 {
		return "", fmt.Errorf("only %d chunks", seen.chunks)
	}
	return fmt.Sprintf("%d chunks", seen.chunks), nil
}

func quiet(ctx context.Context, s *session) (string, error) {
	seen, err := follow(s.stream(ctx, "quiet"), nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d frames", seen.frames), equal(seen.state, a2a.TaskStateCompleted, "state")
}

var scenarios = map[string]func(context.Context, *session) (string, error){
	"finished-stream": finishedStream,
	"card":            readCard,
	"send":            send,
	"poll":            poll,
	"stream":          stream,
	"resubscribe":     resubscribe,
	"get":             get,
	"list":            list,
	"page":            page,
	"cancel":          cancel,
	"errors":          refusals,
	"follow-up":       followUp,
	"large":           large,
	"quiet":           quiet,
}
