/*
 * ordered.c - see ordered.h: an AA tree (Andersson, Balanced Search Trees Made Simple, WADS 1993). A node's level is one above that of
 * its left child, and equal to or one above that of its right child; that of its right child's right child is lower. So a tree of n
 * nodes is at most 2 log2(n + 1) deep.
 */
#include "base/ordered.h"

#include <stdlib.h>

#include "base/vec.h"

#define NIL 0u /* the node at 0: level 0, its own children */

struct node {
    uint64_t key, value;
    uint32_t left, right;
    uint32_t level;
};

struct ordered {
    struct node *nodes;
    uint32_t count, capacity; /* of nodes, with NIL and the unused ones */
    uint32_t root;
    uint32_t unused; /* a list by `left` */
};

struct ordered *ordered_new(void)
{
    struct ordered *map = calloc(1, sizeof *map);
    if (map && vec_push(map->nodes, map->count, map->capacity, (struct node){0}))
        return map;
    ordered_free(map);
    return NULL;
}

void ordered_free(struct ordered *map)
{
    if (map)
        free(map->nodes);
    free(map);
}

/* A left child of the same level becomes the parent. */
static uint32_t skew(struct node *nodes, uint32_t at)
{
    uint32_t left = nodes[at].left;
    if (at == NIL || nodes[left].level != nodes[at].level)
        return at;
    nodes[at].left = nodes[left].right;
    nodes[left].right = at;
    return left;
}

/* The middle one of three of the same level becomes the parent, a level higher. */
static uint32_t split(struct node *nodes, uint32_t at)
{
    uint32_t right = nodes[at].right;
    if (at == NIL || nodes[nodes[right].right].level != nodes[at].level)
        return at;
    nodes[at].right = nodes[right].left;
    nodes[right].left = at;
    nodes[right].level++;
    return right;
}

static uint32_t find_node(const struct ordered *map, uint64_t key)
{
    uint32_t at = map->root;
    while (at != NIL && map->nodes[at].key != key)
        at = key < map->nodes[at].key ? map->nodes[at].left : map->nodes[at].right;
    return at;
}

/* Inserts a node with a new key into the tree at `at`; returns the tree's root. */
static uint32_t insert_node(struct node *nodes, uint32_t at, uint32_t node)
{
    if (at == NIL)
        return node;
    if (nodes[node].key < nodes[at].key)
        nodes[at].left = insert_node(nodes, nodes[at].left, node);
    else
        nodes[at].right = insert_node(nodes, nodes[at].right, node);
    return split(nodes, skew(nodes, at));
}

bool ordered_put(struct ordered *map, uint64_t key, uint64_t value)
{
    uint32_t node = find_node(map, key);
    if (node != NIL) {
        map->nodes[node].value = value;
        return true;
    }
    node = map->unused;
    if (node != NIL)
        map->unused = map->nodes[node].left;
    else if (vec_push(map->nodes, map->count, map->capacity, (struct node){0}))
        node = map->count - 1;
    else
        return false;
    map->nodes[node] = (struct node){.key = key, .value = value, .level = 1};
    map->root = insert_node(map->nodes, map->root, node);
    return true;
}

/* Restores the levels after a node below was removed. */
static uint32_t rebalance(struct node *nodes, uint32_t at)
{
    uint32_t left = nodes[nodes[at].left].level, right = nodes[nodes[at].right].level,
             most = (left < right ? left : right) + 1;
    if (nodes[at].level > most) {
        nodes[at].level = most;
        if (right > most)
            nodes[nodes[at].right].level = most;
    }
    at = skew(nodes, at);
    uint32_t *child = &nodes[at].right;
    *child = skew(nodes, *child);
    if (*child != NIL)
        nodes[*child].right = skew(nodes, nodes[*child].right);
    at = split(nodes, at);
    nodes[at].right = split(nodes, nodes[at].right);
    return at;
}

/* Removes the smallest node, *least, from the tree at `at`; returns the tree's root. */
static uint32_t take_least(struct node *nodes, uint32_t at, uint32_t *least)
{
    if (nodes[at].left == NIL) {
        *least = at;
        return nodes[at].right;
    }
    nodes[at].left = take_least(nodes, nodes[at].left, least);
    return rebalance(nodes, at);
}

/* Removes an existing key from the tree at `at`; its node is *removed. Returns the tree's root. */
static uint32_t take_node(struct node *nodes, uint32_t at, uint64_t key, uint32_t *removed)
{
    struct node *n = &nodes[at];
    if (key < n->key) {
        n->left = take_node(nodes, n->left, key, removed);
    } else if (key > n->key) {
        n->right = take_node(nodes, n->right, key, removed);
    } else {
        *removed = at;
        if (n->right == NIL)
            return n->left;
        uint32_t least, right = take_least(nodes, n->right, &least);
        nodes[least].left = n->left;
        nodes[least].right = right;
        nodes[least].level = n->level;
        at = least;
    }
    return rebalance(nodes, at);
}

bool ordered_remove(struct ordered *map, uint64_t key)
{
    uint32_t removed;
    if (find_node(map, key) == NIL)
        return false;
    map->root = take_node(map->nodes, map->root, key, &removed);
    map->nodes[removed].left = map->unused;
    map->unused = removed;
    return true;
}

bool ordered_at_most(const struct ordered *map, uint64_t bound, uint64_t *key, uint64_t *value)
{
    uint32_t best = NIL;
    for (uint32_t at = map->root; at != NIL;) {
        const struct node *n = &map->nodes[at];
        if (n->key <= bound)
            best = at;
        at = n->key <= bound ? n->right : n->left;
    }
    if (best == NIL)
        return false;
    *key = map->nodes[best].key;
    *value = map->nodes[best].value;
    return true;
}
