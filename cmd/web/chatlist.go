package main

import (
	"context"
	"sync"
	"time"

	"stagefold/internal/store"
)

// listAge is how old the list of chats at the side may be where nothing here
// said that it changed; other instances' changes come with their wakes.
const listAge = time.Second

// chatList keeps the newest chats for all viewers, who ask for the same list.
type chatList struct {
	db  *store.DB
	now func() time.Time

	mu   sync.Mutex
	list []store.Chat
	read time.Time // zero: must be read anew
	gen  int       // raised by forget, so that a list read before it is not kept
}

// newest gives the newest chats; the slice is shared and not to be changed.
func (l *chatList) newest(ctx context.Context) ([]store.Chat, error) {
	l.mu.Lock()
	list, read, gen := l.list, l.read, l.gen
	l.mu.Unlock()
	if !read.IsZero() && l.now().Sub(read) < listAge {
		return list, nil
	}
	at := l.now()
	list, _, err := l.db.Chats(ctx, "", chatsListed)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gen == gen {
		l.list, l.read = list, at
	}
	return list, nil
}

// forget: something in the list changed.
func (l *chatList) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = time.Time{}
	l.gen++
}
