-- needs: ccp/crowd.sql
-- The Cover that a ccp unit has where it stands, and its morale with it: 3.1.4, 3.3.1.2, 4, 5.6, 15.2.2, F104.2, F107.1, T81.3.

create or replace function ccp._is_inside(stat ccp.stat)
returns boolean
language sql immutable parallel safe
-- F102.1: nobody but the Japanese is ever inside
return stat.side = 'japan' and coalesce((stat.attributes ->> 'in_cave')::boolean, false);

comment on function ccp._is_inside(ccp.stat) is
'Whether a unit is inside the cave of its hex (F102.1).';

create or replace function ccp._unit_cover(crowd ccp.crowd, covers ccp.cover[], stat ccp.stat)
returns integer
language plpgsql immutable parallel safe
as $$
begin
  return ccp._cover(covers, ccp._is_inside(stat)) - crowd.excess;
end
$$;

comment on function ccp._unit_cover(ccp.crowd, ccp.cover[], ccp.stat) is
'The Cover that a unit has in its hex, less what is too many there (15.2.2, F102.1.2).';

create or replace function ccp._morale(stat ccp.stat, cover integer)
returns integer
language sql immutable parallel safe
return (stat.attributes ->> 'morale')::integer + stat.led + stat.status - stat.wire::integer + cover;

comment on function ccp._morale(ccp.stat, integer) is
'The morale of a unit with what command, status and wire change, and so much Cover; null where one of them is not told.';

create or replace function ccp._morale_steps(stat ccp.stat, cover integer)
returns setof ccp.stat_step
language sql stable parallel safe rows 2
as $$
  select
    fact.n,
    stat.code,
    fact.rule,
    fact.effect,
    fact.note,
    fact.point
  from (
    values
    (true, 9, '3.1.4', stat.attributes ->> 'morale', format('%s: the morale of its counter', stat.code), null),
    (
      stat.led <> 0, 10, '3.3.1.2', to_char(stat.led, 'FMSG9'),
      format('%s: command of leaders in its hex', stat.code), null
    ),
    (
      stat.broken_leader is not null, 11, 'O27.3.4', 'command',
      format('what %s, a broken leader, still commands', stat.broken_leader), 'ccp-29'
    ),
    (
      coalesce((stat.attributes ->> 'veteran')::boolean, false), 12, '4.1.2', '+1',
      format('%s: a veteran', stat.code), null
    ),
    (
      coalesce((stat.attributes ->> 'suppressed')::boolean, false), 13, '4.2.2', '-1',
      format('%s: suppressed', stat.code), null
    ),
    (stat.wire, 14, 'F107.1', '-1', format('%s: in wire', stat.code), null),
    (
      cover is not null, 15, 'T81.3.1', to_char(cover, 'FMSG9'),
      format('%s: Cover, which makes its morale %s', stat.code, ccp._morale(stat, cover)), null
    )
  ) as fact (holds, n, rule, effect, note, point)
  where fact.holds
    and stat.attributes ->> 'morale' is not null
$$;

comment on function ccp._morale_steps(ccp.stat, integer) is
'What makes the morale of a unit: its counter, command, status, wire, Cover (3.1.4, 3.3.1.2, 4, F107.1, T81.3.1).';
